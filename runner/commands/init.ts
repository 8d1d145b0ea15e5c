import { existsSync } from "node:fs";
import path from "node:path";
import type { Command } from "commander";
import { brokerOf } from "../brokers/index.ts";
import type { InstallMachine } from "../brokers/server.ts";
import { thisMachine } from "../doctor/this-machine.ts";
import { EXIT, type ExitCode } from "../errors.ts";
import { type Answers, answersOf, systemCalled } from "../init/answers.ts";
import { writeDriver } from "../init/driver.ts";
import { DEFAULT_FILE, newFile, scenarioText, write } from "../init/file.ts";
import { missingHere, systems } from "../init/systems.ts";
import { scenarioSchemaText } from "../scenario/json-schema.ts";
import { loadScenario } from "../scenario/load.ts";
import { shellWord } from "../shell.ts";
import type { World } from "../world.ts";
import type { Action, Flags, Texts } from "./options.ts";

export function declare(command: Command, on: Action): void {
	command
		.argument("[path]", "file to write, e.g. bench/orders.yaml", DEFAULT_FILE)
		.option(
			"--broker <system>",
			systems()
				.map(({ word }) => word)
				.join(", "),
		)
		.option("--pattern <pattern>", "what messages do, e.g. round-trip")
		.option("--rate <rate>", "messages per second, e.g. 1000/s")
		.option("--message <size>", "size of each message, e.g. 1KiB")
		.option("--duration <time>", "how long to measure, e.g. 30s")
		.option("--p99 <time>", "limit for p99 of the response time, e.g. 20ms")
		.option("--url <url>", "of your own broker, or the environment variable that holds it")
		.option("-y, --yes", "ask nothing; take the defaults")
		.action(on(init, "name"));
	command
		.command("driver <name>")
		.description(
			"write a driver for a broker that mqbench does not have, with a small one to measure",
		)
		.action(on(initDriver, "name"));
}

export async function initDriver(args: { readonly name: string }, world: World): Promise<ExitCode> {
	const folder = await writeDriver(args.name, world);
	world.stdout.write(
		`${folder}/ has a driver, and a broker in memory that it measures. ${folder}/README.md says how to make it yours; as it is:
  cd ${folder} && go test -v -failfast ./...
  npx mqbench plan ${folder}/scenario.yaml
`,
	);
	return EXIT.pass;
}

export type InitArgs = Partial<Record<keyof Answers, string>> & Texts<"name"> & Flags<"yes">;

/** Asks for settings that the options leave open, then writes a commented scenario and the editors' schema next to it. */
export async function init(
	args: InitArgs,
	world: World,
	machine: InstallMachine = thisMachine(world),
): Promise<ExitCode> {
	const file = newFile(args.name ?? DEFAULT_FILE, world);
	const missing = await missingHere(machine);
	const answers = await answersOf(args, [...missing.keys()], world);
	const system = systemCalled(answers.broker);
	if (!system) throw new Error(`no such system: ${answers.broker}`);
	const text = scenarioText(file, system, answers);
	// Contradictory answers fail before a file exists.
	loadScenario(file, text, {}, { ...world.env, ...placeholder(answers, system) });
	await write(file, text, world);
	const schema = path.join(path.dirname(file), "scenario.schema.json");
	if (!existsSync(path.resolve(world.cwd, schema)))
		await write(schema, scenarioSchemaText(), world);
	const absent = answers.url === "" ? missing.get(system.name) : undefined;
	const words = `${shellWord(file)}${absent === undefined ? "" : " --target docker"}`;
	world.stdout.write(
		`${file} is written. See what it will do, then run it:
  npx mqbench plan ${words}
  npx mqbench ${words}
${absent === undefined ? "" : `To run the broker without Docker: ${absent}\n`}`,
	);
	return EXIT.pass;
}

// --- internal ---

/** A variable that the user has yet to set is not a mistake of the new file. */
function placeholder({ url }: Answers, { name: broker }: { name: string }): Record<string, string> {
	return url.includes("://")
		? {}
		: { [url]: `${Object.keys(brokerOf({ broker }).urls)[0]}://host` };
}
