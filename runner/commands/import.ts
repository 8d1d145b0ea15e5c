import { readFile } from "node:fs/promises";
import path from "node:path";
import { Argument, type Command } from "commander";
import { EXIT, type ExitCode, failure } from "../errors.ts";
import type { NamedText } from "../import/file.ts";
import { importOmb } from "../import/omb.ts";
import { write } from "../init/file.ts";
import { reasonOf } from "../reason.ts";
import { commandLine } from "../shell.ts";
import type { World } from "../world.ts";
import type { Action, Texts } from "./options.ts";

export function declare(command: Command, on: Action): void {
	command
		.addArgument(new Argument("<tool>", "omb: OpenMessaging Benchmark").choices(["omb"]))
		.argument("<workload>", "its workload file")
		.argument("<driver>", "its driver file")
		.option("--out <file>", "file to write (default: print the scenario)")
		.action(on(importCommand, "tool", "workload", "driver"));
}

async function importCommand(
	{ workload, driver, out }: Texts<"out"> & Readonly<Record<"workload" | "driver", string>>,
	world: World,
): Promise<ExitCode> {
	const { yaml, left } = importOmb(await read(workload, world), await read(driver, world));
	if (out === undefined) world.stdout.write(yaml);
	else {
		await write(out, yaml, world);
		world.stderr.write(
			`${out} is written. See what it will do: npx mqbench plan ${commandLine([out])}\n`,
		);
	}
	for (const { file, what, why } of left) world.stderr.write(`${file}: ${what}: ${why}\n`);
	return EXIT.pass;
}

// --- internal ---

async function read(file: string, world: World): Promise<NamedText> {
	try {
		const text = await readFile(path.resolve(world.cwd, file), "utf8");
		return { file: path.basename(file), text };
	} catch (error) {
		throw failure("import-unreadable", { path: file, reason: reasonOf(error) });
	}
}
