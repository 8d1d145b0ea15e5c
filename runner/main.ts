import { existsSync } from "node:fs";
import path from "node:path";
import { Command, CommanderError, Option } from "commander";
import { example, realBrokers, variable } from "./brokers/index.ts";
import { EXIT, type ExitCode, failure, MqbenchError } from "./errors.ts";
import { packageVersion } from "./package.ts";
import { maskUrls } from "./secrets.ts";
import { guarded } from "./workflow-log.ts";
import type { World } from "./world.ts";

/** Runs a command line and returns its exit code. Every error becomes a message: with a stack only if it is a bug of ours. */
export async function main(
	argv: readonly string[],
	outside: World,
): Promise<ExitCode> {
	const world = guarded(outside);
	let code: ExitCode = EXIT.pass;
	const program = commands(argv, world, (result) => {
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
export function explain(error: unknown, outside: World): ExitCode {
	const world = guarded(outside);
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
  mqbench scenarios/quickstart.yaml --target docker
  mqbench scenarios/quickstart.yaml --target existing --url ${example.url("host")}
  mqbench scenarios/quickstart.yaml --clients 3 --set workload.connections=3
  mqbench up scenarios/quickstart.yaml --target docker
  mqbench scenarios/quickstart.yaml --rig rig.json
  mqbench down rig.json
  mqbench plan scenarios/ec2.yaml --target aws
  mqbench scenarios/ec2.yaml --target aws --max-hourly-usd 5
  mqbench rigs list
  mqbench scenarios/message-sizes.yaml --only '${example.broker}/1KiB*' --json
  mqbench validate scenarios/quickstart.yaml
  mqbench plan scenarios/message-sizes.yaml
  mqbench init my-scenario
  mqbench doctor
  mqbench explain support
  mqbench report reports/<run-id>
  mqbench compare baseline.json reports/<run-id>
  mqbench scenarios/quickstart.yaml --reporter terminal,junit=out/junit.xml

Exit codes: 0 every SLA met, 99 an SLA breached, 6 inconclusive, 4 measurement invalid, 2 scenario or usage,
3 environment, 5 something that costs money is left in the cloud, 1 bug, 130/143 interrupted.
`;

const RIGS_EXAMPLES = `
Examples:
  mqbench rigs list
  mqbench rigs destroy my-scenario-3f2a9b
  mqbench rigs destroy --all --yes
  mqbench rigs sweep --region eu-central-1
  mqbench rigs sweep --region eu-central-1 --id my-scenario-3f2a9b --yes
  mqbench rigs config scenarios/ec2.yaml > config.yaml

Exit code 5: something is left in the cloud, and the commands that remove it are printed.
`;

/** A command's module is loaded when it runs: validate needs no histograms. */
function commands(
	argv: readonly string[],
	world: World,
	done: (code: ExitCode) => void,
): Command {
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

	rentOptions(
		scenarioOptions(
			program
				.command("run", { isDefault: true })
				.description("make every run of a scenario (the default command)"),
		),
	)
		.option(
			"--out <folder>",
			"folder for the results (default: reports/<run-id>)",
		)
		.option(
			"--resume <folder>",
			"go on with an interrupted command: reports/<run-id>; complete runs are kept",
		)
		.addOption(reporterOption())
		.option("--json", "short for --reporter json=-: result.json on stdout")
		.option(
			"--no-floor",
			"do not measure the floor of the generator (4s per case)",
		)
		.option("-q, --quiet", "print nothing; the exit code speaks")
		.addOption(
			new Option(
				"--on-inconclusive <what>",
				"exit code of an undecided SLA: fail 6, warn and pass 0 (default: fail; of one that compares with a baseline warn)",
			).choices(["fail", "warn", "pass"]),
		)
		.option(
			"--baseline <path>",
			"what 'p99 <= baseline + 10%' compares with: a baseline.json or run folder; none: leave such lines out",
		)
		.option(
			"--calibration <file>",
			"noise of this machine, from mqbench calibrate (default: what is known of it)",
		)
		.option(
			"--confirm",
			"two more repeats of what is breached or undecided; judged together",
		)
		.action(async (path: string, options) => {
			const { run } = await import("./commands/run.ts");
			done(await run({ path, argv, ...options }, world));
		});
	scenarioOptions(
		program
			.command("calibrate")
			.description(
				"measure this machine's noise: the same runs again and again, and the smallest change they can tell",
			),
	)
		.option("--runs <n>", "how many runs of each system and case", "10")
		.option("--system <key>", "only this system (default: all)")
		.option(
			"--out <folder>",
			"folder for the results (default: reports/<run-id>)",
		)
		.option("-q, --quiet", "print nothing; the files speak")
		.action(async (path: string, options) => {
			const { calibrate } = await import("./commands/calibrate.ts");
			done(await calibrate({ path, argv, ...options }, world));
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
	rentOptions(program.command("up"))
		.description(
			"stand the brokers of a scenario up, to stay while runs come and go",
		)
		.argument("<scenario>", "path of the YAML file")
		.addOption(setOption())
		.option("--target <target>", "where they run: local, docker or aws")
		.option("--clients <n>", "target aws: machines for the load")
		.option(
			"--only <glob>",
			`only systems of runs that match, e.g. '${example.broker}/*'`,
		)
		.option(
			"--out <file>",
			"file that says where they are, for --rig (default: rig.json)",
		)
		.action(async (path: string, options) => {
			const { up } = await import("./commands/up.ts");
			done(await up({ path, ...options }, world));
		});
	program
		.command("down")
		.description("take down what mqbench up has stood up")
		.argument("<rig>", "its rig.json")
		.action(async (file: string) => {
			const { down } = await import("./commands/down.ts");
			done(await down({ file }, world));
		});
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
		.description(
			"recompute result and reports of a run from its files; of a folder of runs, write its index.html",
		)
		.argument("<folder>", "reports/<run-id>; or reports, for the index")
		.addOption(reporterOption())
		.option("--json", "short for --reporter json=-: result.json on stdout")
		.addOption(
			new Option(
				"--on-inconclusive <what>",
				"exit code of an undecided SLA, as of mqbench run",
			).choices(["fail", "warn", "pass"]),
		)
		.addOption(
			new Option(
				"--svg [folder]",
				"only draw every chart as a file of its own (default: svg/ in the run's folder)",
			).conflicts(["reporter", "json"]),
		)
		.addOption(
			new Option("--theme <theme>", "colours of --svg: light or dark")
				.choices(["light", "dark"])
				.default("light"),
		)
		.option("--only <glob>", "charts of --svg, by name: '*-percentiles'")
		.action(async (folder: string, options) => {
			const { report: command } = await import("./commands/report.ts");
			done(await command({ folder, ...options }, world));
		});
	program
		.command("compare")
		.description(
			"compare runs with a baseline: ratio with its interval, REGRESSED, IMPROVED, SAME or INCONCLUSIVE; exit code 99 on a regression",
		)
		.argument(
			"<runs...>",
			"folders of runs (reports/<run-id>) or baseline.json files; the first is the baseline",
		)
		.option(
			"--systems <old,new>",
			"compare two systems, of one run or of two, the baseline first",
		)
		.option(
			"--calibration <file>",
			"noise of this machine, of mqbench calibrate (default: what it has kept)",
		)
		.option("--json", "print the comparison as JSON")
		.option("--markdown [file.md]", "print it as Markdown, or write the file")
		.option(
			"--html <file.html>",
			"write a page with the curves over each other",
		)
		.addOption(
			new Option(
				"--on-inconclusive <what>",
				"exit code where the runs do not tell: fail 6, warn and pass 0",
			)
				.choices(["fail", "warn", "pass"])
				.default("warn"),
		)
		.action(async (paths: string[], options) => {
			const { compare } = await import("./commands/compare.ts");
			done(await compare({ paths, ...options }, world));
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
			"explain a word of the reports: response, support, invalid, inconclusive, baseline, clients, rig, failover, lost",
		)
		.argument("[topic]", "without one: the list")
		.action(async (topic: string | undefined) => {
			const { explain: command } = await import("./commands/explain.ts");
			done(await command({ topic }, world));
		});
	program
		.command("schema")
		.description(
			"print the JSON Schema of scenarios, of result.json, or of rig.json",
		)
		.addArgument(
			commandArgument("[what]", "which schema")
				.choices(["scenario", "result", "rig"])
				.default("scenario"),
		)
		.action(async (what: "scenario" | "result" | "rig") => {
			const { schema } = await import("./commands/schema.ts");
			done(await schema({ what }, world));
		});
	addRigs(program, world, done);
	return program;
}

/** `mqbench rigs`: of what is rented. */
function addRigs(
	program: Command,
	world: World,
	done: (code: ExitCode) => void,
): void {
	const rigs = program
		.command("rigs")
		.description(
			"list what is rented in the cloud, take it down, find what nobody remembers",
		)
		.addHelpText("after", RIGS_EXAMPLES);
	rigs
		.command("list")
		.description("rigs that this machine remembers, with their price")
		.option("--json", "print them as JSON")
		.action(async (options) => {
			const { rigsList } = await import("./commands/rigs.ts");
			done(await rigsList(world, options));
		});
	rigs
		.command("destroy")
		.description("take a rig down that this machine remembers")
		.argument("[id]", "as mqbench rigs list says it")
		.option("--all", "all of them, but those that another mqbench has")
		.option("-y, --yes", "ask nothing")
		.action(async (id: string | undefined, options) => {
			const { rigsDestroy } = await import("./commands/rigs.ts");
			done(await rigsDestroy({ id, ...options }, world));
		});
	rigs
		.command("sweep")
		.description(
			"find rigs in AWS by their tag, and remove those that have expired, or the one of --id",
		)
		.option(
			"--region <region>",
			"where to look, e.g. eu-central-1 (default: all regions that are enabled)",
		)
		.option("--profile <profile>", "of AWS's configuration files")
		.option("--id <id>", "only this rig, whether it has expired or not")
		.option(
			"--owner <owner>",
			"whose expired rigs (default: yours, as AWS names you)",
		)
		.option("-y, --yes", "remove without asking")
		.action(async (options) => {
			const { rigsSweep } = await import("./commands/rigs.ts");
			done(await rigsSweep(options, world));
		});
	rigs
		.command("config")
		.description(
			"print the configuration of Pulumi for a scenario, to run pulumi up by hand",
		)
		.argument("<scenario>", "path of the YAML file")
		.addOption(setOption())
		.option("--clients <n>", "machines for the load")
		.option(
			"--only <glob>",
			`only systems of runs that match, e.g. '${example.broker}/*'`,
		)
		.action(async (path: string, options) => {
			const { rigsConfig } = await import("./commands/rigs.ts");
			done(await rigsConfig({ path, ...options }, world));
		});
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

/** Its names are told again by reporters.ts, which is loaded only when it is needed; a test compares them. */
function reporterOption(): Option {
	return new Option(
		"--reporter <names>",
		"what is printed and written: terminal, json, junit, markdown, csv, github, html; several by commas, or repeated. The files are always in the run's folder: a name says where, name=path writes a copy, name=- to stdout (default: terminal; in a job of GitHub Actions terminal,github)",
	).argParser((value: string, all: string[] = []) => [...all, value]);
}

function setOption(): Option {
	return new Option(
		"--set <path=value>",
		"override a field, e.g. workload.rate=5000/s; may be repeated",
	).argParser((value: string, all: string[] = []) => [...all, value]);
}

/** Of commands that may rent machines. */
function rentOptions(command: Command): Command {
	return command
		.option(
			"-y, --yes",
			"target aws: rent without asking, and download the command pulumi where it is missing",
		)
		.option(
			"--max-hourly-usd <n>",
			"target aws: rent nothing that costs more US dollars an hour",
		);
}

function scenarioOptions(command: Command): Command {
	return command
		.argument("<scenario>", "path of the YAML file")
		.addOption(setOption())
		.option(
			"--target <target>",
			"where brokers run: local, docker, existing or aws",
		)
		.option(
			"--url <url>",
			`URL of an existing broker (implies --target existing); keep one with a password in the environment: --url '${variable(example.variable)}'`,
		)
		.option(
			"--rig <file>",
			"brokers that stay up: a rig.json of mqbench up, or your own; their topics alone are made anew",
		)
		.option(
			"--clients <clients>",
			"what makes the load: a number of processes (of the rig's clients, where it has some), hosts for ssh (user@a,user@b), or docker=<n> containers",
		)
		.option(
			"--only <glob>",
			`only runs whose system/case matches, e.g. '${example.broker}/256B*'`,
		)
		.option(
			"--quick",
			"shorten every run to 3s or 2000 messages, without searches, to see that the scenario works; gives no result",
		);
}
