import { createHash } from "node:crypto";
import {
	cpSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	symlinkSync,
	unlinkSync,
	writeFileSync,
} from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { baselineWith, machineWith } from "../compare/baseline.fake.ts";
import { firstRun, fixture } from "../evidence/fixture.fake.ts";
import type { RigMachines } from "../model/environment-file.ts";
import type { Plan } from "../model/plan.ts";
import { expand } from "../plan/expand.ts";
import { floors } from "../plan/floor.ts";
import { loadScenario } from "../scenario/load.ts";
import { readEnvironment } from "./environment.ts";
import { addRun, floorPath, makeRunFolder, runPath } from "./folder.ts";
import { confirmingIn, goingOn, resumeRunFolder as resumeOn, runIdOf } from "./resume.ts";

const TEXT = "system: nats\nrepeat: 3\nworkload: {rate: 10/s, message: 256B, duration: 1s}\n";
const make = (text: string, runId = "bench-1") =>
	expand(loadScenario("scenario.yaml", text), { runId });
const plans = make(TEXT);
const here = readEnvironment("2026-01-02T03:04:05.000Z");
const resumeRunFolder = (
	folder: string,
	text: string,
	all: readonly Plan[],
	floorsOfAll: readonly Plan[],
	machine = here,
) => resumeOn(folder, text, all, floorsOfAll, machine);

/** Three runs: the first complete, the second stopped by the user. */
function interrupted(): string {
	const folder = path.join(testFolder(), "run");
	makeRunFolder(folder, TEXT, plans, floors(plans));
	const [first, second] = plans as [Plan, Plan, Plan];
	leave(runPath(folder, first), {});
	leave(runPath(folder, second), { interruptedBy: "SIGINT" });
	writeFileSync(path.join(runPath(folder, second), "broker.log"), "");
	return folder;
}

/** The files of a run that went well, with another run.json. */
function leave(run: string, change: object): void {
	const healthy = firstRun(fixture("healthy"));
	for (const name of ["client-0.hlog", "client-0.jsonl"])
		cpSync(path.join(healthy, name), path.join(run, name));
	const file = JSON.parse(readFileSync(path.join(healthy, "run.json"), "utf8"));
	writeFileSync(path.join(run, "run.json"), JSON.stringify({ ...file, ...change }));
}

/** The files of a killed client, with a checkpoint. */
function cut(run: string, untilNs: number): void {
	const lines = readFileSync(path.join(firstRun(fixture("healthy")), "client-0.jsonl"), "utf8")
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line));
	const sum = (text: string) => createHash("sha256").update(text).digest("hex");
	const [hlog, first] = ["#[head]\n", `${JSON.stringify(lines[0])}\n`];
	const checkpoint = {
		type: "checkpoint",
		untilNs,
		counters: lines.filter(({ type }) => type === "counters"),
		totals: lines.find(({ type }) => type === "totals"),
		first: {},
		slowest: [],
		lines: 1,
		sha256: sum(first),
		hlog: { bytes: hlog.length, sha256: sum(hlog) },
	};
	writeFileSync(path.join(run, "client-0.hlog.part"), `${hlog}#[more]\n`);
	writeFileSync(path.join(run, "client-0.jsonl.part"), `${first}${JSON.stringify(checkpoint)}\n`);
}

const indices = (all: readonly Plan[]) => all.map(({ index }) => index);

describe("--resume", () => {
	test("repeats all loads of a run unless all are complete", () => {
		const text = `system: nats
repeat: 2
workload: { rate: 10/s, message: 256B, duration: 1s }
background: { bulk: { rate: 10/s, message: 256B } }
`;
		const all = make(text);
		const folder = path.join(testFolder(), "run");
		makeRunFolder(folder, text, all, []);
		for (const plan of all.filter(({ index }) => index !== 2)) leave(runPath(folder, plan), {});
		expect(indices(resumeRunFolder(folder, text, all, []).plans)).toEqual([1, 2]);
	});

	test("goes on with a run of an hour from its last checkpoint, again and again", () => {
		const text = "system: nats\nworkload: {rate: 10/s, message: 256B, duration: 1h, warmup: 5s}\n";
		const all = make(text);
		const folder = path.join(testFolder(), "run");
		makeRunFolder(folder, text, all, []);
		const run = runPath(folder, all[0] as Plan);
		const resume = () => resumeRunFolder(folder, text, all, []).plans[0]?.segments?.resumeNs;
		const files = () => readdirSync(run).sort();
		// Nothing was written yet.
		expect(resume()).toBe(0);
		cut(run, 305e9);
		expect(resume()).toBe(305e9);
		expect(files()).toEqual(["plan.json", "script.js", "segment-1"]);
		expect(readdirSync(path.join(run, "segment-1")).sort()).toEqual([
			"client-0.hlog.part",
			"client-0.jsonl.part",
			"plan.json",
			"script.js",
		]);
		expect(JSON.parse(readFileSync(path.join(run, "plan.json"), "utf8"))).toMatchObject({
			runNumber: all[0]?.runNumber,
			segments: { resumeNs: 305e9 },
		});
		// Cut before the first checkpoint of the second segment, then after one of the third.
		expect(resume()).toBe(305e9);
		cut(run, 605e9);
		expect(resume()).toBe(605e9);
		expect(files()).toEqual(["plan.json", "script.js", "segment-1", "segment-2", "segment-3"]);
		expect(goingOn(resumeRunFolder(folder, text, all, []).plans)).toEqual([
			"01-nats-256B-10-s-1 goes on from 10min 5s of its schedule.",
		]);
	});

	test("gives the run id back, so that the same scenario makes the same plans", () => {
		expect(make(TEXT, runIdOf(interrupted()))).toEqual(plans);
	});

	test("refuses runs of another machine: they are no repeats of these", () => {
		const folder = interrupted();
		writeFileSync(path.join(folder, "environment.json"), JSON.stringify(here));
		expect(() => resumeRunFolder(folder, TEXT, plans, [])).not.toThrow();
		const other = { ...here, kernel: "6.99.0" };
		expect(() => resumeRunFolder(folder, TEXT, plans, [], other)).toThrow(
			/made on another machine.*kernel: .*, now 6.99.0/,
		);
	});

	test.each<[string, Partial<RigMachines>, string]>([
		["another rig", { id: "a-2" }, "rig a-2"],
		[
			"one stood up later",
			{ createdAt: "2026-01-02T03:04:05Z" },
			"rig a-1 of 2026-01-02T03:04:05Z",
		],
		["other addresses", { brokers: ["b9"] }, "rig a-1"],
		["hosts that are not rented", { cloud: null, machines: "host b9" }, "host b9"],
	])("refuses runs of machines of a rig on %s", (_, change, words) => {
		const folder = interrupted();
		const rig: RigMachines = {
			id: "a-1",
			createdAt: null,
			cloud: "aws eu-central-1",
			machines: "1 i4i.xlarge for brokers (aws eu-central-1)",
			brokers: ["b1"],
			clients: ["c1"],
			here: false,
			facts: {},
		};
		const on = (more: Partial<RigMachines> = {}) => ({ ...here, rig: { ...rig, ...more } });
		const file = path.join(folder, "environment.json");
		writeFileSync(file, JSON.stringify(on()));
		const resumed = (now: typeof here) => () => resumeRunFolder(folder, TEXT, plans, [], now);
		expect(resumed(on())).not.toThrow();
		expect(resumed(on(change))).toThrow(`made on other machines (rig a-1, now ${words})`);
		expect(resumed(here)).toThrow("(rig a-1, now the machine of mqbench alone)");
		// Your own hosts are the same ones whatever their rig is called.
		writeFileSync(file, JSON.stringify(on({ cloud: null, id: "x" })));
		expect(resumed(on({ cloud: null, id: "y" }))).not.toThrow();
	});

	test("keeps what is complete, and empties what is not", () => {
		const folder = interrupted();
		const rest = resumeRunFolder(folder, TEXT, plans, floors(plans));
		expect(indices(rest.plans)).toEqual([2, 3]);
		const [kept, again] = plans as [Plan, Plan, Plan];
		expect(readdirSync(runPath(folder, kept)).sort()).toEqual([
			"client-0.hlog",
			"client-0.jsonl",
			"plan.json",
			"run.json",
			"script.js",
		]);
		expect(readdirSync(runPath(folder, again)).sort()).toEqual(["plan.json", "script.js"]);
	});

	test.each<[string, object, boolean]>([
		["complete", {}, true],
		["stopped for an SLA", { abortedBy: "p99 < 5ms" }, true],
		["whose broker died", { error: "nats: the broker ended" }, false],
		["that was interrupted", { interruptedBy: "SIGTERM" }, false],
	])("a run %s", (_, change, kept) => {
		const folder = interrupted();
		leave(runPath(folder, plans[2] as Plan), change);
		const rest = resumeRunFolder(folder, TEXT, plans, []);
		expect(indices(rest.plans)).toEqual(kept ? [2] : [2, 3]);
	});

	test("makes a run again whose files were cut", () => {
		const folder = interrupted();
		const file = path.join(runPath(folder, plans[0] as Plan), "client-0.jsonl");
		writeFileSync(file, readFileSync(file, "utf8").slice(0, -100));
		expect(indices(resumeRunFolder(folder, TEXT, plans, []).plans)).toEqual([1, 2, 3]);
	});

	test("makes a run again whose run.json is damaged, and nothing of an unknown machine", () => {
		const folder = interrupted();
		const run = runPath(folder, plans[0] as Plan);
		writeFileSync(path.join(run, "run.json"), "");
		expect(indices(resumeRunFolder(folder, TEXT, plans, []).plans)).toEqual([1, 2, 3]);
		writeFileSync(path.join(folder, "environment.json"), "");
		expect(() => resumeRunFolder(folder, TEXT, plans, [])).toThrow(
			/its environment\.json cannot be read, so it is not known on which machine/,
		);
	});

	test("neither empties what a link leads to, nor runs a script that it finds", () => {
		const folder = interrupted();
		const [first, second, third] = plans as [Plan, Plan, Plan];
		const script = path.join(runPath(folder, second), "script.js");
		const own = readFileSync(script, "utf8");
		writeFileSync(script, "throw new Error('not ours')");
		resumeRunFolder(folder, TEXT, plans, []);
		expect(readFileSync(script, "utf8")).toBe(own);
		for (const [run, all] of [
			[runPath(folder, third), []],
			[floorPath(folder, first), floors(plans)],
		] as const) {
			const elsewhere = path.join(testFolder(), "elsewhere");
			mkdirSync(run, { recursive: true });
			renameSync(run, elsewhere);
			writeFileSync(path.join(elsewhere, "mine"), "");
			symlinkSync(elsewhere, run);
			expect(() => resumeRunFolder(folder, TEXT, plans, all)).toThrow(
				/cannot be resumed: it is a symbolic link/,
			);
			expect(readdirSync(elsewhere)).toContain("mine");
			unlinkSync(run);
			renameSync(elsewhere, run);
		}
	});

	test("measures the floors that are not there yet, also those that --no-floor had left out", () => {
		const folder = path.join(testFolder(), "run");
		makeRunFolder(folder, TEXT, plans, []);
		const all = floors(plans);
		expect(resumeRunFolder(folder, TEXT, plans, all).floors).toEqual(all);
		expect(readdirSync(floorPath(folder, all[0] as Plan)).sort()).toEqual([
			"plan.json",
			"script.js",
		]);
		leave(floorPath(folder, all[0] as Plan), {});
		expect(resumeRunFolder(folder, TEXT, plans, all).floors).toEqual([]);
	});

	const others: [string, string, Plan[], RegExp][] = [
		[
			"of another text",
			`${TEXT}# changed\n`,
			plans,
			/cannot be resumed: its scenario\.yaml is not the text/,
		],
		[
			"with another --set",
			TEXT,
			make(TEXT.replace("10/s", "20/s")),
			/its runs are others: it was made with other options/,
		],
		[
			"with another --only",
			TEXT,
			plans.slice(0, 2),
			/its runs are others: it was made with other options/,
		],
	];
	test.each(others)(
		"refuses a folder %s, and changes nothing in it",
		(_, text, wanted, message) => {
			const folder = interrupted();
			const before = readdirSync(folder, { recursive: true }).sort();
			expect(() => resumeRunFolder(folder, text, wanted, [])).toThrow(
				expect.objectContaining({
					code: "resume-other",
					exit: 2,
					message: expect.stringMatching(message),
				}),
			);
			expect(readdirSync(folder, { recursive: true }).sort()).toEqual(before);
		},
	);

	test("goes on with the repeats that --confirm had added, to the last byte of their plans", () => {
		const folder = interrupted();
		const [first] = plans as [Plan];
		const added = [4, 5].map((index) => ({
			...first,
			index,
			repeat: index,
			repeats: 5,
			topics: [`mqbench.bench-1.${index}.0`],
			confirms: true,
		}));
		for (const plan of added) addRun(folder, plan);
		leave(runPath(folder, added[0] as Plan), {});
		expect(confirmingIn(folder)).toEqual(added);
		const all = [...plans, ...confirmingIn(folder)];
		expect(indices(resumeRunFolder(folder, TEXT, all, []).plans)).toEqual([2, 3, 5]);
		expect(() => resumeRunFolder(folder, TEXT, plans, [])).toThrow(/its runs are others/);
	});

	test("refuses another baseline than the runs began with; a calibration may come and go", () => {
		const folder = path.join(testFolder(), "run");
		const snapshot = {
			schema: 1 as const,
			name: "the baseline",
			baseline: baselineWith({ "response p99": [1, 2, 3, 4] }),
			calibration: null,
		};
		makeRunFolder(folder, TEXT, plans, [], snapshot);
		const resume = (now: Parameters<typeof resumeOn>[5]) =>
			resumeOn(folder, TEXT, plans, [], here, now);
		expect(() => resume(snapshot)).not.toThrow();
		const other = baselineWith({ "response p99": [1, 2, 3, 5] });
		for (const now of [{ ...snapshot, baseline: other }, null])
			expect(() => resume(now)).toThrow(/compared with another baseline/);
		const noise = {
			schema: 1 as const,
			scenario: "s",
			runId: "r",
			noise: [],
			machine: machineWith(),
		};
		expect(() => resume({ ...snapshot, calibration: noise })).not.toThrow();
	});

	test("refuses a search, and a folder that is none of a run", () => {
		const search = make(
			"system: nats\nworkload: {rate: 10/s, message: 256B, find: max-rate}\nsla: [p99 < 5ms]\n",
		);
		expect(() => resumeRunFolder(interrupted(), TEXT, search, [])).toThrow(
			/a search \(find: max-rate\) cannot be resumed/,
		);
		expect(() => runIdOf(testFolder())).toThrow(/is not the folder of a run/);
	});
});
