import { type Command, Option } from "commander";
import { example, variable } from "../brokers/index.ts";
import { type ExitCode, failure } from "../errors.ts";
import { TARGETS, targetTraits } from "../model/targets.ts";
import { REPORTERS } from "../result/reporters.ts";
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
		.option("--target <target>", "where brokers run: local, docker, existing, aws or kubernetes")
		.option(
			"--url <url>",
			`URL of your own broker (implies --target existing); if it has a password, put it into the environment: --url '${variable(example.variable)}'`,
		)
		.option(
			"--rig <file>",
			"measure on brokers that stay up: the rig.json of mqbench up, or your own",
		)
		.option(
			"--clients <clients>",
			"what makes the load: a number of processes, hosts for ssh (user@a,user@b), docker=<n> containers, or kubernetes=<n> pods; with a rig that has clients, how many of them",
		)
		.option("--only <glob>", `only runs whose system/case matches, e.g. '${example.broker}/256B*'`)
		.option(
			"--quick",
			"shorten every run to 3s or 2000 messages and skip searches: shows that the scenario works; its figures are not a result, its exit code is that of the SLA",
		);
}

/** Of commands that may rent machines. */
export function rentOptions(command: Command): Command {
	return command
		.option(
			"-y, --yes",
			"ask nothing: rent what target aws needs, download pulumi, or a Go to build the load generator with, where it is missing",
		)
		.option(
			"--max-hourly-usd <n>",
			"target aws: refuse to rent what costs more than this per hour",
		);
}

/** Of commands that look for what is in the cloud or in a cluster. */
export interface InCluster {
	readonly target?: string | undefined;
	readonly context?: string | undefined;
	readonly namespace?: string | undefined;
}

export function clusterOptions(command: Command): Command {
	return command
		.option("--target <target>", "kubernetes: mqbench's pods in a cluster")
		.option(
			"--context <context>",
			"target kubernetes: which cluster (default: kubectl's own choice)",
		)
		.option("--namespace <namespace>", "target kubernetes: where to look (default: everywhere)");
}

/** False: the cloud is meant. */
export function isCluster({ target }: InCluster): boolean {
	const known = TARGETS.find((name) => name === target);
	const traits = known === undefined ? null : targetTraits(known);
	if (target === undefined || traits?.rents != null) return false;
	if (traits?.place === "pod") return true;
	throw failure("usage", {
		message: `mqbench rigs knows the cloud and --target kubernetes, not ${target}`,
	});
}

/** Of commands that stand up or describe brokers, without runs. */
export function onlySystemsOption(): Option {
	return new Option("--only <glob>", `only systems whose runs match, e.g. '${example.broker}/*'`);
}

export function outFolderOption(): Option {
	return new Option("--out <folder>", "folder for the results (default: reports/<run-id>)");
}

export function reporterOption(): Option {
	return new Option(
		"--reporter <names>",
		`what to print or copy: ${REPORTERS.join(", ")}; separate several by commas. All files are in the run's folder anyway: a name alone prints where, name=path writes a copy, name=- prints the file (default: terminal; in GitHub Actions terminal,github)`,
	).argParser(collect);
}

export function jsonReporterOption(): Option {
	return new Option("--json", "print result.json; short for --reporter json=-");
}

export function setOption(): Option {
	return new Option(
		"--set <path=value>",
		"override a field, e.g. workload.rate=5000/s; may be given several times",
	).argParser(collect);
}

// --- internal ---

function collect(value: string, all: string[] = []): string[] {
	return [...all, value];
}
