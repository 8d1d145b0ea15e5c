import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import type { Command } from "commander";
import { brokerOf, realBrokers } from "../brokers/index.ts";
import { EXIT, type ExitCode, failure } from "../errors.ts";
import type { Answers } from "../init/answers.ts";
import { answersOf } from "../init/ask.ts";
import { scenarioText } from "../init/scenario-text.ts";
import { reasonOf } from "../reason.ts";
import { scenarioSchemaText } from "../scenario/json-schema.ts";
import { loadScenario } from "../scenario/load.ts";
import { Name } from "../scenario/schema.ts";
import type { World } from "../world.ts";
import type { Invocation } from "./options.ts";

export function declare(program: Command, { world, exit }: Invocation): void {
	program
		.command("init")
		.description("ask a few questions, and write a commented scenario")
		.argument("[name]", "of the scenario and its file (default: my-scenario)")
		.option(
			"--broker <broker>",
			`${realBrokers.slice(0, -1).join(", ")} or ${realBrokers.at(-1)}`,
		)
		.option("--pattern <pattern>", "what messages do, e.g. round-trip")
		.option("--rate <rate>", "messages per second, e.g. 1000/s")
		.option("--message <size>", "size of a message, e.g. 1KiB")
		.option("--duration <time>", "the measured part, e.g. 30s")
		.option("--p99 <time>", "limit of the response time's p99, e.g. 20ms")
		.option("--url <url>", "of your broker, or a variable that holds it")
		.option("-y, --yes", "ask nothing; take what is offered")
		.action(async (name: string | undefined, options) =>
			exit(await init({ name, ...options }, world)),
		);
}

export interface InitArgs extends Partial<Record<keyof Answers, string>> {
	/** Name of the scenario and its file; undefined: my-scenario. */
	readonly name?: string | undefined;
	/** `--yes`: ask nothing. */
	readonly yes?: boolean | undefined;
}

/** `mqbench init`: asks what is not given as an option, and writes a commented scenario and the schema for editors beside it. */
export async function init(args: InitArgs, world: World): Promise<ExitCode> {
	const name = (args.name ?? "my-scenario").replace(/\.ya?ml$/, "");
	const named = Name.safeParse(name);
	if (!named.success)
		throw failure("usage", {
			message: `${name}: ${named.error.issues[0]?.message}`,
		});
	const file = `${name}.yaml`;
	const target = path.join(world.cwd, file);
	if (existsSync(target))
		throw failure("usage", {
			message: `${file} exists already and stays as it is; give another name: mqbench init <name>`,
		});
	const answers = await answersOf(args, world);
	const text = scenarioText(name, answers);
	// Whatever fits badly together is said before a file is there.
	loadScenario(file, text, {}, { ...world.env, ...placeholder(answers) });
	await write(target, text);
	const schema = path.join(world.cwd, "scenario.schema.json");
	if (!existsSync(schema)) await write(schema, scenarioSchemaText());
	world.stdout.write(
		`${file} is written. Look at it, then:\n  mqbench plan ${file}\n  mqbench ${file}\n`,
	);
	return EXIT.pass;
}

// --- internal ---

/** A variable that a person has yet to set is no mistake of the new file. */
function placeholder({ broker, url }: Answers): Record<string, string> {
	return url.includes("://")
		? {}
		: { [url]: `${brokerOf({ broker }).urlSchemes[0]}://host` };
}

async function write(file: string, text: string): Promise<void> {
	try {
		await writeFile(file, text, { flag: "wx" });
	} catch (error) {
		throw failure("output-unwritable", { path: file, reason: reasonOf(error) });
	}
}
