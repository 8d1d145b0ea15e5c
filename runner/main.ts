import { existsSync } from "node:fs";
import path from "node:path";
import { Command, CommanderError, Option } from "commander";
import { EXIT, type ExitCode, failure, MqbenchError } from "./errors.ts";
import { packageVersion } from "./package.ts";
import { maskUrls } from "./secrets.ts";
import type { World } from "./world.ts";

/** Runs a command line and returns its exit code. Every error becomes a message: with a stack only if it is a bug of ours. */
export async function main(
	argv: readonly string[],
	world: World,
): Promise<ExitCode> {
	let code: ExitCode = EXIT.pass;
	const program = commands(world, (result) => {
		code = result;
	});
	try {
		refuseUnknownWord(argv[0], program, world);
		await program.parseAsync([...argv], { from: "user" });
		return code;
	} catch (error) {
		return explain(error, world);
	}
}

/** Prints what went wrong, with a stack only if it is a bug of ours, and returns the exit code for it. */
export function explain(error: unknown, world: World): ExitCode {
	if (error instanceof MqbenchError) {
		world.stderr.write(`${maskUrls(error.message)}\n`);
		if (error.code === "interrupted" && world.stop.reason === "SIGTERM")
			return EXIT.terminated;
		return error.exit;
	}
	// Commander has printed its message already; help and version are no errors.
	if (error instanceof CommanderError)
		return error.exitCode === 0 ? EXIT.pass : EXIT.usage;
	const stack = error instanceof Error ? error.stack : String(error);
	world.stderr.write(
		`${maskUrls(`This is a bug of mqbench ${packageVersion}, please report it with the scenario:\n${stack}`)}\n`,
	);
	return EXIT.internal;
}

// --- internal ---

const EXAMPLES = `
Examples:
  mqbench scenarios/quickstart.yaml
  mqbench scenarios/quickstart.yaml --set workload.rate=20000/s --set workload.duration=30s
  mqbench scenarios/quickstart.yaml --target existing --url nats://host:4222
  mqbench scenarios/message-sizes.yaml --only 'nats/1KiB*' --json
  mqbench validate scenarios/quickstart.yaml
  mqbench plan scenarios/message-sizes.yaml
  mqbench init my-scenario
  mqbench doctor
  mqbench explain support
  mqbench report reports/<run-id>

Exit codes: 0 every SLA met, 99 an SLA breached, 6 inconclusive, 4 measurement invalid, 2 scenario or usage,
3 environment, 1 bug, 130/143 interrupted.
`;

/** A command's module is loaded when it runs: validate needs no histograms. */
function commands(world: World, done: (code: ExitCode) => void): Command {
	const program = new Command("mqbench")
		.description(
			"Measures message brokers from a YAML scenario: open loop, from the intended send time, with a verdict.",
		)
		.version(packageVersion, "-v, --version")
		.configureOutput({
			writeOut: (text) => world.stdout.write(text),
			writeErr: (text) => world.stderr.write(maskUrls(text)),
		})
		.exitOverride()
		.showSuggestionAfterError()
		.showHelpAfterError("mqbench --help lists commands, options and examples.")
		.addHelpText("after", EXAMPLES);

	scenarioOptions(
		program
			.command("run", { isDefault: true })
			.description("make every run of a scenario (the default command)"),
	)
		.option(
			"--out <folder>",
			"folder for the results (default: reports/<run-id>)",
		)
		.option(
			"--resume <folder>",
			"go on with an interrupted command: reports/<run-id>; complete runs are kept",
		)
		.option("--json", "print result.json instead of the report")
		.option(
			"--no-floor",
			"do not measure the floor of the generator (4s per case)",
		)
		.option("-q, --quiet", "print nothing; the exit code speaks")
		.addOption(
			new Option(
				"--on-inconclusive <what>",
				"exit code of an undecided SLA: fail 6, warn and pass 0",
			)
				.choices(["fail", "warn", "pass"])
				.default("fail"),
		)
		.action(async (path: string, options) => {
			const { run } = await import("./commands/run.ts");
			done(await run({ path, ...options }, world));
		});
	scenarioOptions(
		program
			.command("validate")
			.description("check a scenario, and say what it would do"),
	).action(async (path: string, options) => {
		const { validate } = await import("./commands/validate.ts");
		done(await validate({ path, ...options }, world));
	});
	scenarioOptions(
		program
			.command("plan")
			.description(
				"list the runs, what they take, and which percentiles they will carry",
			),
	)
		.option("--json", "print the plans as JSON")
		.action(async (path: string, options) => {
			const { plan } = await import("./commands/plan.ts");
			done(await plan({ path, ...options }, world));
		});
	scenarioOptions(
		program
			.command("compile")
			.description("print the k6 script of the first run"),
	)
		.option("--plan", "print the plan.json that the script opens")
		.action(async (path: string, options) => {
			const { compile } = await import("./commands/compile.ts");
			done(await compile({ path, ...options }, world));
		});
	program
		.command("init")
		.description("ask a few questions, and write a commented scenario")
		.argument("[name]", "of the scenario and its file (default: my-scenario)")
		.option("--broker <broker>", "nats, kafka, redis or rabbitmq")
		.option("--pattern <pattern>", "what messages do, e.g. round-trip")
		.option("--rate <rate>", "messages per second, e.g. 1000/s")
		.option("--message <size>", "size of a message, e.g. 1KiB")
		.option("--duration <time>", "the measured part, e.g. 30s")
		.option("--p99 <time>", "limit of the response time's p99, e.g. 20ms")
		.option("--url <url>", "of your broker, or a variable that holds it")
		.option("-y, --yes", "ask nothing; take what is offered")
		.action(async (name: string | undefined, options) => {
			const { init } = await import("./commands/init.ts");
			done(await init({ name, ...options }, world));
		});
	program
		.command("import")
		.description("make a scenario of another tool's files")
		.addArgument(
			commandArgument("<tool>", "omb: OpenMessaging Benchmark").choices([
				"omb",
			]),
		)
		.argument("<workload>", "its workload file")
		.argument("<driver>", "its driver file")
		.option("--out <file>", "write the scenario there (default: stdout)")
		.action(
			async (_tool: string, workload: string, driver: string, options) => {
				const { importCommand } = await import("./commands/import.ts");
				done(await importCommand({ workload, driver, ...options }, world));
			},
		);
	program
		.command("report")
		.description("recompute result and reports of a run from its files")
		.argument("<folder>", "reports/<run-id>")
		.action(async (folder: string) => {
			const { report: command } = await import("./commands/report.ts");
			done(await command({ folder }, world));
		});
	program
		.command("doctor")
		.description(
			"look for what on this machine would bend a measurement; exit code 3 if something is bad",
		)
		.option("--json", "print the findings as JSON")
		.action(async (options) => {
			const { doctor } = await import("./commands/doctor.ts");
			done(await doctor(options, world));
		});
	program
		.command("explain")
		.description(
			"explain a word of the reports: response, support, invalid, inconclusive, lost",
		)
		.argument("[topic]", "without one: the list")
		.action(async (topic: string | undefined) => {
			const { explain: command } = await import("./commands/explain.ts");
			done(await command({ topic }, world));
		});
	program
		.command("schema")
		.description("print the JSON Schema of scenarios, or of result.json")
		.addArgument(
			commandArgument("[what]", "which schema")
				.choices(["scenario", "result"])
				.default("scenario"),
		)
		.action(async (what: "scenario" | "result") => {
			const { schema } = await import("./commands/schema.ts");
			done(await schema({ what }, world));
		});
	return program;
}

/** `mqbench valdate x.yaml` would be taken for a scenario called valdate, with an argument too many. */
function refuseUnknownWord(
	word: string | undefined,
	program: Command,
	world: World,
): void {
	const known = [...program.commands.map((command) => command.name()), "help"];
	if (word === undefined || !/^[a-z]+$/i.test(word) || known.includes(word))
		return;
	if (existsSync(path.resolve(world.cwd, word))) return;
	throw failure("unknown-command", { word, known });
}

function commandArgument(name: string, description: string) {
	return new Command().createArgument(name, description);
}

function scenarioOptions(command: Command): Command {
	return command
		.argument("<scenario>", "path of the YAML file")
		.option(
			"--set <path=value>",
			"override a field, e.g. workload.rate=5000/s; may be repeated",
			(value: string, all: string[] = []) => [...all, value],
		)
		.option("--target <target>", "where it runs: local or existing")
		.option(
			"--url <url>",
			`URL of an existing broker (implies --target existing); keep one with a password in the environment: --url '\${NATS_URL}'`,
		)
		.option(
			"--only <glob>",
			"only runs whose system/case matches, e.g. 'nats/256B*'",
		)
		.option(
			"--quick",
			"shorten every run to 3s or 2000 messages, without searches, to see that the scenario works; gives no result",
		);
}
