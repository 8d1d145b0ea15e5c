import type { Command } from "commander";
import type { Invocation } from "./commands/options.ts";

/** A command, of which a list of all tells name, arguments and purpose without loading it. */
export interface CommandEntry {
	/** As its own help has it. */
	readonly usage: string;
	readonly description: string;
	/** Gives it its arguments, options and action. */
	readonly load: () => Promise<{ declare(command: Command, invocation: Invocation): void }>;
}

const SCENARIO = "[options] <scenario>";

/** In the order of the help. A file is loaded only when the command line names it: validate needs no histograms. */
export const COMMANDS = {
	run: {
		usage: SCENARIO,
		description: "run a scenario (the default command)",
		load: () => import("./commands/run.ts"),
	},
	calibrate: {
		usage: SCENARIO,
		description:
			"measure this machine's noise with identical runs, and the smallest change it can detect",
		load: () => import("./commands/calibrate.ts"),
	},
	validate: {
		usage: SCENARIO,
		description: "check a scenario without a broker",
		load: () => import("./commands/validate.ts"),
	},
	plan: {
		usage: SCENARIO,
		description: "show the runs, how long they take, and which percentiles their samples carry",
		load: () => import("./commands/plan.ts"),
	},
	compile: {
		usage: SCENARIO,
		description: "print the k6 script of the first run",
		load: () => import("./commands/compile.ts"),
	},
	build: {
		usage: "[options]",
		description:
			"build a k6 for scripts of your own: brokers' modules (k6/x/...), mqbench.open, and what `mqbench compile` prints",
		load: () => import("./commands/build.ts"),
	},
	up: {
		usage: SCENARIO,
		description: "start the brokers of a scenario and keep them running between runs",
		load: () => import("./commands/up.ts"),
	},
	down: {
		usage: "[options] <rig>",
		description: "stop what mqbench up has started",
		load: () => import("./commands/down.ts"),
	},
	init: {
		usage: "[options] [path]",
		description: "ask a few questions and write a commented scenario",
		load: () => import("./commands/init.ts"),
	},
	import: {
		usage: "[options] <tool> <workload> <driver>",
		description: "turn another tool's files into a scenario",
		load: () => import("./commands/import.ts"),
	},
	report: {
		usage: "[options] <folder...>",
		description:
			"recompute the result and reports of a run from its files, or write the index.html of a folder of runs",
		load: () => import("./commands/report.ts"),
	},
	compare: {
		usage: "[options] <runs...>",
		description:
			"compare runs with a baseline: REGRESSED, IMPROVED, SAME or INCONCLUSIVE, with the ratio and its interval; exit code 99 on a regression",
		load: () => import("./commands/compare.ts"),
	},
	doctor: {
		usage: "[options]",
		description:
			"check this machine for what distorts measurements; exit code 3 if something is bad",
		load: () => import("./commands/doctor.ts"),
	},
	explain: {
		usage: "[options] [topic...]",
		description: "explain a word of the reports, e.g. response, lag, support, lost",
		load: () => import("./commands/explain.ts"),
	},
	schema: {
		usage: "[options] [what]",
		description:
			"print the JSON Schema of scenarios, of result.json, of the details.json of a run, or of rig.json",
		load: () => import("./commands/schema.ts"),
	},
	rigs: {
		usage: "[options] [command]",
		description: "list or remove what is rented in the cloud, or runs in a cluster",
		load: () => import("./commands/rigs.ts"),
	},
	clean: {
		usage: "[options]",
		description: "show and remove what mqbench keeps on this machine",
		load: () => import("./commands/clean.ts"),
	},
} satisfies Record<string, CommandEntry>;

export type CommandName = keyof typeof COMMANDS;

export function isCommand(word: string): word is CommandName {
	return Object.hasOwn(COMMANDS, word);
}
