import { type Command, Option } from "commander";
import { example, variable } from "../brokers/index.ts";
import type { ExitCode } from "../errors.ts";
import { REPORTERS } from "../result/reporters.ts";
import type { Overrides } from "../scenario/overrides.ts";
import { ON_INCONCLUSIVE } from "../verdict/exit.ts";
import type { World } from "../world.ts";

/** Makes commander's action: `run` gets the arguments by these names, the options, and `argv` after "mqbench". */
export type Action = <Args>(
	run: (args: Args, world: World) => Promise<ExitCode>,
	...names: readonly string[]
) => (this: Command) => Promise<void>;

/** Options without a value, and with one. */
export type Flags<Name extends string> = { readonly [Key in Name]?: boolean | undefined };
export type Texts<Name extends string> = { readonly [Key in Name]?: string | undefined };

export interface ScenarioArgs extends Overrides {
	readonly path: string;
	readonly argv?: readonly string[] | undefined;
}

export function scenarioOptions(command: Command): Command {
	return command
		.argument("<scenario>", "path of the YAML file")
		.addOption(setOption())
		.option("--target <target>", "where brokers run: local, docker, existing, aws or kubernetes")
		.option(
			"--url <url>",
			`URL of your own broker (implies --target existing); if it has a password, put it into the environment: --url '${variable(example.variable)}'`,
		)
		.option(
			"--rig <file>",
			"measure on brokers that stay up: the rig.json of npx mqbench up, or your own",
		)
		.option(
			"--clients <clients>",
			"the load generators: a number of processes, hosts for ssh (user@a,user@b), docker=<n> containers, or kubernetes=<n> pods; with a rig that has clients, how many of them",
		)
		.option("--only <glob>", `only runs whose system/case matches, e.g. '${example.broker}/256B*'`)
		.option(
			"--quick",
			"shorten every run to 3s or 2000 messages and skip searches: shows that the scenario works; its figures are not a result, its exit code is that of the SLA",
		);
}

/** For commands that start or describe brokers, without runs. */
export function systemsOptions(command: Command): Command {
	return command
		.argument("<scenario>", "path of the YAML file")
		.addOption(setOption())
		.option("--only <glob>", `only systems whose runs match, e.g. '${example.broker}/*'`);
}

/** For commands that may rent machines. */
export function rentOptions(command: Command): Command {
	return command
		.option(
			"-y, --yes",
			"ask nothing: rent machines for target aws, and download Go if it is missing",
		)
		.option(
			"--max-hourly-usd <n>",
			"target aws: refuse to rent what costs more than this per hour",
		);
}

export function reportOptions(command: Command): Command {
	return command
		.option(
			"--reporter <names>",
			`what to print or copy: ${REPORTERS.join(", ")}; separate several by commas. All files are in the run's folder anyway: a name alone prints where, name=path writes a copy, name=- prints the file (default: terminal; in GitHub Actions terminal,github)`,
			collect,
		)
		.option("--json", "print result.json; short for --reporter json=-");
}

export function inconclusiveOption(description: string): Option {
	return new Option("--on-inconclusive <what>", description).choices(ON_INCONCLUSIVE);
}

export function allowCodeOption(): Option {
	return new Option(
		"--allow-code",
		"run the scenario's extensions, which are code of others, without asking (npx mqbench plan shows them)",
	);
}

export function outFolderOption(): Option {
	return new Option("--out <folder>", "folder for the results (default: reports/<run-id>)");
}

export function calibrationOption(): Option {
	return new Option(
		"--calibration <file>",
		"noise of this machine, from npx mqbench calibrate (default: what calibrate has kept)",
	);
}

export function collect(value: string, all: readonly string[] = []): readonly string[] {
	return [...all, value];
}

// --- internal ---

function setOption(): Option {
	return new Option(
		"--set <path=value>",
		"override a field, e.g. workload.rate=5000/s; may be given several times",
	).argParser(collect);
}
