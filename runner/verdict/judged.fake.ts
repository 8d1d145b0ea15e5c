import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { collect } from "../evidence/collect.ts";
import { editJson, editLines, firstRun, fixture, fixtureCopy } from "../evidence/fixture.fake.ts";
import type { ClientEnd, FaultDone } from "../model/run-file.ts";
import { parseSla } from "../scenario/sla.ts";
import type { Checked } from "./checks.ts";
import { type Floor, factsOf, type Surroundings, UNKNOWN } from "./facts.ts";
import { judgeRun, type RunVerdict } from "./run.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests change any field of any file.
export type Any = any;

/** For tests: changes in a stored run before it is judged. */
export interface Changes {
	readonly plan?: (plan: Any) => void;
	readonly lines?: (lines: Any[]) => Any[] | undefined;
	readonly run?: (file: Any) => void;
	/** The whole of resources.jsonl. */
	readonly resources?: readonly Any[];
	readonly clock?: string | null;
	readonly surroundings?: Partial<Surroundings>;
}

/** For tests: the verdict on a stored run after some changes to its files. */
export function judged(name: string, changes: Changes = {}): RunVerdict {
	const run = firstRun(Object.keys(changes).length > 0 ? fixtureCopy(name) : fixture(name));
	if (changes.plan) editJson(join(run, "plan.json"), changes.plan);
	if (changes.lines) editLines(join(run, "client-0.jsonl"), changes.lines);
	if (changes.run) editJson(join(run, "run.json"), changes.run);
	if (changes.resources)
		writeFileSync(
			join(run, "resources.jsonl"),
			changes.resources.map((r) => `${JSON.stringify(r)}\n`).join(""),
		);
	const clockSource = changes.clock === undefined ? "tsc" : changes.clock;
	return judgeRun(factsOf(collect(run), { ...UNKNOWN, clockSource, ...changes.surroundings }));
}

/** For tests: a check of such a run. */
export function check(name: string, changes: Changes = {}, of = "healthy"): Checked {
	const found = judged(of, changes).checks.find((c) => c.check === name);
	if (found === undefined) throw new Error(`no check ${name}`);
	return found;
}

/** For tests: the lines of its client changed, its SLA replaced. */
export const lines = (edit: (lines: Any[]) => unknown): Pick<Required<Changes>, "lines"> => ({
	lines: (all) => {
		edit(all);
		return undefined;
	},
});
export const sla = (...lines: string[]): Pick<Required<Changes>, "plan"> => ({
	plan: (plan) => {
		plan.sla = lines.map(parseSla);
	},
});

export const counters = (lines: Any[], scope: string) =>
	lines.find((l) => l.type === "counters" && l.scope === scope);
export const totals = (lines: Any[]) => lines.find((l) => l.type === "totals");

/** For tests: ten pieces of a second with the same count. */
export const tenth = (n: number): number[] => Array(10).fill(n);

/** For tests: surroundings in which the floor of the generator was measured. */
export function floorOf(p99: number | null, more: Partial<Floor> = {}): { floor: Floor } {
	const floor = { folder: "floors/01", problem: null, count: 5000, p50: 1e4, p99, max: p99 };
	return { floor: { ...floor, perSecond: null, ...more } };
}

const S = 1e9;

/** For tests: a broker that was killed 4 s after T0, for a second, with only the figures in `more`. */
export function killed(more: Partial<FaultDone> = {}): FaultDone {
	return {
		of: "brokers",
		action: "kill",
		count: null,
		node: 1,
		leader: true,
		calledNs: null,
		beganNs: 4 * S,
		endedNs: 5 * S,
		delayNs: null,
		error: null,
		runOver: false,
		...more,
	};
}

/** For tests: a client on this machine that began in time and ended well. */
export function clientEnd(index: number, more: Partial<ClientEnd> = {}): ClientEnd {
	return {
		index,
		name: `process ${index + 1}`,
		kind: "local",
		machine: null,
		k6Exit: 0,
		k6Signal: null,
		firstClaimNs: -1e8,
		clock: null,
		error: null,
		...more,
	};
}
