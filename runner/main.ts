import { existsSync } from "node:fs";
import path from "node:path";
import { Command, CommanderError } from "commander";
import { example } from "./brokers/index.ts";
import type { Action } from "./commands/options.ts";
import { EXIT, type ExitCode, failure, MqbenchError } from "./errors.ts";
import { packageVersion } from "./package.ts";
import { maskUrls } from "./secrets.ts";
import { didYouMean } from "./suggest.ts";
import { guarded } from "./workflow-log.ts";
import type { World } from "./world.ts";

/** In the order of the help. A file loads only when the command line names it: validate needs no histograms. */
export const COMMANDS: Readonly<Record<string, Entry>> = {
	run: ["run a scenario (the default command)", () => import("./commands/run.ts")],
	calibrate: [
		"measure this machine's noise with identical runs, and the smallest change it can detect",
		() => import("./commands/calibrate.ts"),
	],
	validate: ["check a scenario without a broker", () => import("./commands/validate.ts")],
	plan: [
		"show the runs, how long they take, and which percentiles their samples carry",
		() => import("./commands/plan.ts"),
	],
	compile: ["print the k6 script of the first run", () => import("./commands/compile.ts")],
	build: [
		"build a k6 for scripts of your own: brokers' modules (k6/x/...), mqbench.open, and what `npx mqbench compile` prints",
		() => import("./commands/build.ts"),
	],
	up: [
		"start the brokers of a scenario and keep them running between runs",
		() => import("./commands/up.ts"),
	],
	down: ["stop what npx mqbench up has started", () => import("./commands/down.ts")],
	init: ["ask a few questions and write a commented scenario", () => import("./commands/init.ts")],
	import: ["turn another tool's files into a scenario", () => import("./commands/import.ts")],
	reproduce: [
		"measure a published report again on this machine, and compare the two; without a name, list the reports",
		() => import("./commands/reproduce.ts"),
	],
	report: [
		"recompute the result and reports of a run from its files, or write the index.html of a folder of runs",
		() => import("./commands/report.ts"),
	],
	compare: [
		"compare runs with a baseline: REGRESSED, IMPROVED, SAME or INCONCLUSIVE, with the ratio and its interval; exit code 99 on a regression",
		() => import("./commands/compare.ts"),
	],
	doctor: [
		"check this machine for what distorts measurements; exit code 3 if something is bad",
		() => import("./commands/doctor.ts"),
	],
	explain: [
		"explain a word of the reports, e.g. response, lag, support, lost",
		() => import("./commands/explain.ts"),
	],
	schema: [
		"print the JSON Schema of scenarios, of result.json, of the details.json of a run, or of rig.json",
		() => import("./commands/schema.ts"),
	],
	rigs: [
		"list or remove machines that are rented in the cloud",
		() => import("./commands/rigs.ts"),
	],
	clean: [
		"show and remove what mqbench keeps on this machine",
		() => import("./commands/clean.ts"),
	],
};

/** Runs a command line. Every error becomes a message, with a stack only for our own bugs. */
export async function main(argv: readonly string[], outside: World): Promise<ExitCode> {
	const world = guarded(outside);
	let code: ExitCode = EXIT.pass;
	const on: Action = (run, ...names) =>
		async function (this: Command) {
			const given = names.map((name, i) => [name, this.processedArgs[i]]);
			code = await run({ ...this.opts(), ...Object.fromEntries(given), argv }, world);
		};
	try {
		if (argv.includes("--json") && /^(-v|--version)$/.test(argv[0] ?? "")) {
			const { versionJson } = await import("./doctor/generator.ts");
			world.stdout.write(`${JSON.stringify(await versionJson(world))}\n`);
			return EXIT.pass;
		}
		refuseUnknownWord(argv[0], world);
		const program = await commandLine(argv, world, on);
		// Usually a script with an empty variable, so an error, with the help.
		if (argv.length === 0) program.help({ error: true });
		await program.parseAsync([...argv], { from: "user" });
		return code;
	} catch (error) {
		return explain(error, world);
	}
}

export function explain(error: unknown, outside: World): ExitCode {
	const world = guarded(outside);
	if (error instanceof MqbenchError) {
		world.stderr.write(`${maskUrls(error.message)}\n`);
		if (error.code === "interrupted" && world.stop.reason === "SIGTERM") return EXIT.terminated;
		return error.exit;
	}
	// Commander has printed its message already; help and version are not errors.
	if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.pass : EXIT.usage;
	const stack = error instanceof Error ? error.stack : String(error);
	world.stderr.write(
		`${maskUrls(`This is a bug in mqbench ${packageVersion}; please report it with the scenario:\n${stack ?? ""}`)}\n`,
	);
	return EXIT.internal;
}

// --- internal ---

type Entry = readonly [
	description: string,
	load: () => Promise<{ declare(command: Command, on: Action): void }>,
];

const EXAMPLES = `
Start here (npx mqbench in the clone; everywhere after npm install -g . there):
  npx mqbench init my-scenario
  npx mqbench validate my-scenario.yaml
  npx mqbench plan my-scenario.yaml
  npx mqbench my-scenario.yaml

Change what a run does:
  npx mqbench scenarios/quickstart.yaml
  npx mqbench scenarios/quickstart.yaml --quick --watch --open
  npx mqbench scenarios/quickstart.yaml --set workload.rate=20000/s --set workload.duration=30s
  npx mqbench scenarios/message-sizes.yaml --only '${example.broker}/1KiB*' --reporter terminal,junit=out/junit.xml

Brokers and load in other places:
  npx mqbench scenarios/quickstart.yaml --target docker
  npx mqbench scenarios/quickstart.yaml --url ${example.url("host")} --clients 3 --set workload.connections=3
  npx mqbench scenarios/ec2.yaml --target aws --max-hourly-usd 5

Keep brokers running between runs (npx mqbench up until Ctrl-C; rented machines until npx mqbench down):
  npx mqbench up scenarios/quickstart.yaml
  npx mqbench scenarios/quickstart.yaml --rig rig.json
  npx mqbench down rig.json

Read results, and write k6 scripts of your own:
  npx mqbench explain support
  npx mqbench report reports/<run-id>
  npx mqbench compare baseline.json reports/<run-id>
  npx mqbench doctor
  npx mqbench build --out k6 --with github.com/grafana/xk6-sql@v1.0.6

Exit codes:
    0  every SLA met                 2  mistake in the scenario or command line
   99  an SLA breached               3  environment: program, broker, disk, network
    6  inconclusive                  5  something that costs money is left in the cloud
    4  measurement invalid           1  bug in mqbench
  130  interrupted (143 by SIGTERM)
`;

async function commandLine(argv: readonly string[], world: World, on: Action): Promise<Command> {
	const program = new Command("mqbench")
		.description(
			"Measures message brokers. A YAML scenario says what to send and what must hold; mqbench reports latency, losses and a verdict.",
		)
		.version(packageVersion, "-v, --version")
		.configureOutput({
			writeOut: (text) => world.stdout.write(text),
			writeErr: (text) => world.stderr.write(maskUrls(text)),
		})
		.exitOverride()
		.showSuggestionAfterError()
		.showHelpAfterError("See npx mqbench --help for commands, options and examples.")
		.configureHelp({ subcommandTerm: (command) => command.name() })
		.addHelpText("after", EXAMPLES);
	const named = namedBy(argv);
	for (const [name, [description, load]] of Object.entries(COMMANDS)) {
		const command = program.command(name, { isDefault: name === "run" }).description(description);
		if (named.includes(name)) (await load()).declare(command, on);
	}
	return program;
}

/** A first word that is a command decides; without one, the default command. Help needs none. */
function namedBy(argv: readonly string[]): string[] {
	const named = argv.filter((word) => Object.hasOwn(COMMANDS, word));
	if (named[0] === argv[0]) return named.slice(0, 1);
	const asks = argv.length === 0 || argv.some((word) => /^(help|-h|--help)$/.test(word));
	return asks ? named : ["run", ...named];
}

/** Otherwise `mqbench valdate x.yaml` would be a scenario called valdate with an argument too many. */
function refuseUnknownWord(word: string | undefined, { cwd }: World): void {
	const known = [...Object.keys(COMMANDS), "help"];
	if (word === undefined || !/^[a-z]+$/i.test(word) || known.includes(word)) return;
	if (existsSync(path.resolve(cwd, word))) return;
	throw failure("unknown-command", { word, guess: didYouMean(word, known) });
}
