import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Command } from "commander";
import { EXIT, type ExitCode, failure } from "../errors.ts";
import { packageFolder } from "../package.ts";
import { newRunId } from "../plan/expand.ts";
import { didYouMean } from "../suggest.ts";
import type { World } from "../world.ts";
import { compare } from "./compare.ts";
import { type Action, outFolderOption, type ScenarioArgs, type Texts } from "./options.ts";
import { run } from "./run.ts";

export function declare(command: Command, on: Action): void {
	command
		.argument("[name]", "a published report; without it, all are listed")
		.addOption(outFolderOption())
		.action(on(reproduce, "name"));
}

/** Runs the scenario of a published report, compares the result with the published one, and returns the run's exit code. */
export async function reproduce(
	args: Texts<"name" | "out"> & Pick<ScenarioArgs, "argv">,
	world: World,
): Promise<ExitCode> {
	const { name, argv } = args;
	const known = readdirSync(PUBLISHED).sort();
	if (name === undefined) {
		world.stdout.write(known.map((one) => `${one}\n  ${question(one)}\n`).join(""));
		return EXIT.pass;
	}
	const message = `no published report is called ${name}${didYouMean(name, known)}`;
	if (!known.includes(name)) throw failure("usage", { message });
	const published = path.join(PUBLISHED, name);
	const out = args.out ?? path.join("reports", newRunId(name, world.clock.nowMs()));
	const code = await run({ path: path.join(published, "scenario.yaml"), out, argv }, world);
	await compare({ baseline: published, run: out, onInconclusive: "warn" }, world);
	return code;
}

// --- internal ---

const PUBLISHED = path.join(packageFolder, "reports", "published");

/** The title of its page. */
const question = (name: string) =>
	/^# (.*)/.exec(readFileSync(path.join(PUBLISHED, name, "README.md"), "utf8"))?.[1];
