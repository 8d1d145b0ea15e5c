import { type Command, Option } from "commander";
import { example, variable } from "../brokers/index.ts";
import type { ExitCode } from "../errors.ts";
import { REPORTERS } from "../report/reporters.ts";
import type { World } from "../world.ts";

/** A command line on its way to the command that it names. */
export interface Invocation {
	/** What follows "mqbench". */
	readonly argv: readonly string[];
	readonly world: World;
	readonly exit: (code: ExitCode) => void;
}

export function scenarioOptions(command: Command): Command {
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

/** Of commands that may rent machines. */
export function rentOptions(command: Command): Command {
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

/** Of commands that stand up or describe brokers, without runs. */
export function onlySystemsOption(): Option {
	return new Option(
		"--only <glob>",
		`only systems of runs that match, e.g. '${example.broker}/*'`,
	);
}

export function outFolderOption(): Option {
	return new Option(
		"--out <folder>",
		"folder for the results (default: reports/<run-id>)",
	);
}

export function reporterOption(): Option {
	return new Option(
		"--reporter <names>",
		`what is printed and written: ${REPORTERS.join(", ")}; several by commas, or repeated. The files are always in the run's folder: a name says where, name=path writes a copy, name=- to stdout (default: terminal; in a job of GitHub Actions terminal,github)`,
	).argParser(collect);
}

export function jsonReporterOption(): Option {
	return new Option(
		"--json",
		"short for --reporter json=-: result.json on stdout",
	);
}

export function setOption(): Option {
	return new Option(
		"--set <path=value>",
		"override a field, e.g. workload.rate=5000/s; may be repeated",
	).argParser(collect);
}

// --- internal ---

function collect(value: string, all: string[] = []): string[] {
	return [...all, value];
}
