import type { Command } from "commander";
import type { Action } from "./commands/options.ts";

type Entry = readonly [
	description: string,
	load: () => Promise<{ declare(command: Command, on: Action): void }>,
];

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
		"build a k6 for scripts of your own: brokers' modules (k6/x/...), mqbench.open, and what `mqbench compile` prints",
		() => import("./commands/build.ts"),
	],
	up: [
		"start the brokers of a scenario and keep them running between runs",
		() => import("./commands/up.ts"),
	],
	down: ["stop what mqbench up has started", () => import("./commands/down.ts")],
	init: ["ask a few questions and write a commented scenario", () => import("./commands/init.ts")],
	import: ["turn another tool's files into a scenario", () => import("./commands/import.ts")],
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
		"list or remove what is rented in the cloud, or runs in a cluster",
		() => import("./commands/rigs.ts"),
	],
	clean: [
		"show and remove what mqbench keeps on this machine",
		() => import("./commands/clean.ts"),
	],
};
