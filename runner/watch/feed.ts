import { maskAll } from "../mask.ts";
import type { Plan } from "../model/plan.ts";
import type { FaultDone } from "../model/run-file.ts";
import { openedAt } from "../plan/schedule.ts";
import type { RateFigure } from "../report/charts/figure.ts";
import { caseFigures, searchFigure, stepsFigure } from "../report/charts/rate-figure.ts";
import { type Judged, judgedSoFar, resultOf } from "../report/result.ts";
import { intervalText, percentileValue, withoutSearches } from "../report/words.ts";
import { faultNotes } from "../run/faults.ts";
import { runPath } from "../run/folder.ts";
import { rates, worstOf } from "../run/live-figures.ts";
import { type LiveRun, liveRows } from "../run/live-lines.ts";
import type { Onlooker } from "../run/progress.ts";
import { coresInUse } from "../run/resource-use.ts";
import { hide, maskUrls } from "../secrets.ts";
import { tell } from "../text/tell.ts";
import { formatCount } from "../units.ts";
import { faultName } from "../verdict/checks/faults.ts";
import { reasonOf } from "../verdict/run.ts";
import type { World } from "../world.ts";
import { frameOf } from "./frame.ts";
import {
	after,
	emptyState,
	type JudgedRow,
	type RunRow,
	type Second,
	type Valued,
	type WatchEvent,
	type WatchState,
} from "./state.ts";

/** Takes in what a command does and shows, and keeps the state of the page. It never fails: it must not end a measurement. */
export interface Feed extends Onlooker {
	/** Runs that are to be made in `folder`. */
	expect(folder: string, plans: readonly Plan[]): void;
	/** A run is over, and its files are written: it is judged as the report will judge it. */
	made(plan: Plan): void;
	/** Says something on the terminal, and on the page. */
	toTerminal(text: string): void;
	/** The command has ended without a report. */
	ended(text: string): void;
	state(): WatchState;
}

interface FeedOptions extends Pick<WatchState, "scenario" | "folder"> {
	/** Values that no text may hold. */
	readonly secrets: readonly string[];
	/** Called with each event, in its order, after it has changed the state. */
	readonly publish: (event: WatchEvent) => void;
}

export function makeFeed(
	{ secrets, publish, ...of }: FeedOptions,
	{ clock, stop }: Pick<World, "clock" | "stop">,
): Feed {
	const mask = (text: string) => maskUrls(hide(text, secrets));
	let state = maskAll(emptyState(of), mask);
	const emit = (event: WatchEvent) => {
		const masked = maskAll(event, mask);
		state = after(state, masked);
		publish(masked);
	};
	const log = (text: string) => emit({ kind: "log", at: clock.nowMs(), text: text.trim() });
	if (stop.aborted) emit({ kind: "stopping" });
	stop.addEventListener("abort", () => emit({ kind: "stopping" }), { once: true });
	let toTerminal = log;
	const expected = new Set<Plan>();
	const judged: Judged[] = [];
	let folder = "";
	/** The run that is under way, and what was done to its broker, by place in the plan. */
	let running: { plan: Plan; title: string } | null = null;
	let startNs: number | null = null;
	let faults = new Map<number, FaultDone>();
	const reframe = () => {
		if (running === null) return;
		const plan = openedAt(running.plan, startNs);
		emit({ kind: "frame", frame: frameOf(plan, running.title, faults) });
	};
	return {
		state: () => state,
		say: log,
		hear(say) {
			toTerminal = say;
		},
		toTerminal: (text) => toTerminal(text),
		status: (status) => emit({ kind: "status", status }),
		ended: (text) => emit({ kind: "end", text }),
		expect(where, plans) {
			folder = where;
			const runs = plans.filter(({ search }) => search === null);
			for (const plan of runs) expected.add(plan);
			emit({ kind: "runs", runs: runs.map((plan) => rowOf(plan, "waiting")) });
		},
		begin(plan, title) {
			running = { plan, title };
			[startNs, faults] = [null, new Map()];
			// Floors are numbered on their own.
			const run = expected.has(plan) || plan.search !== null;
			if (run) emit({ kind: "runs", runs: [rowOf(plan, "running")] });
			const frame = frameOf(plan, title, faults);
			const index = run ? plan.index : null;
			emit({ kind: "begin", run: { index, title, frame, done: null, rows: [], seconds: [] } });
		},
		opens(ns) {
			startNs = ns;
			reframe();
		},
		second(live) {
			const second = secondOf(live);
			emit({ kind: "second", second, done: doneOf(live), rows: liveRows(live) });
		},
		fault(plan, place, fault) {
			const over = fault.error !== null || fault.endedNs !== null;
			// What is in effect and is to be taken back will be told once more.
			const more = !over && !faults.has(place) && plan.faults[place]?.forNs !== null;
			log(
				tell("watch-fault", {
					what: more
						? tell("watch-fault-now", { fault: faultName(fault) })
						: faultNotes([fault], openedAt(plan, startNs), { whole: false }),
				}),
			);
			faults.set(place, fault);
			reframe();
		},
		made(plan) {
			const row = rowOf(plan, "done");
			try {
				const one = judgedSoFar(folder, runPath(folder, plan));
				judged.push(one);
				emit({ kind: "runs", runs: [{ ...row, judged: judgedRow(one) }] });
				emit({ kind: "figures", figures: curvesOf(folder, judged) });
			} catch {
				// A file that cannot be read: the report says which, and why.
				emit({ kind: "runs", runs: [row] });
			}
		},
	};
}

// --- internal ---

function rowOf(plan: Plan, is: RunRow["is"]): RunRow {
	const { index, system, case: name, repeat, repeats } = plan;
	return {
		index,
		system,
		case: name,
		is,
		judged: null,
		repeat: repeats > 1 ? `${repeat}/${repeats}` : null,
	};
}

function judgedRow({ run, verdict }: Judged): JudgedRow {
	const percentiles = run.metrics[run.main]?.percentiles ?? [];
	const at = (p: number): Valued => {
		const percentile = percentiles.find((one) => one.p === p);
		return percentile === undefined
			? { value: "n/a", interval: "" }
			: { value: percentileValue(percentile, run), interval: intervalText(percentile) };
	};
	const perSecond = run.throughput.received ?? run.throughput.sent;
	return {
		verdict: run.verdict,
		why: reasonOf(verdict),
		metric: run.main,
		p50: at(50),
		p99: at(99),
		throughput: perSecond === null ? null : `${formatCount(perSecond)}/s`,
	};
}

/** The pictures of the report that grow run by run. */
function curvesOf(folder: string, judged: readonly Judged[]): RateFigure[] {
	const whole = resultOf(folder, judged);
	const result = withoutSearches(whole);
	return [
		...whole.searches.flatMap((search, i) => {
			// Its curve is that of the report as soon as it has one; until then the probes show where it stands.
			const curve = search.runs.filter(({ role }) => role !== "probe");
			const shown = curve.length > 1 ? search : { ...search, lo: null };
			return searchFigure(`search-${i + 1}`, shown, whole) ?? [];
		}),
		...(result.runs.length > 1 ? caseFigures(result) : []),
		...result.runs.flatMap((run) => stepsFigure(`steps-${run.index}`, run, result) ?? []),
	];
}

function secondOf({ plan, tick, use }: LiveRun): Second {
	return {
		at: tick.at,
		p50: tick.p50,
		p99: tick.p99,
		whose: worstOf(tick),
		rates: rates(plan, tick),
		inFlight: tick.inFlight,
		held: tick.held ?? null,
		cores: coresInUse(use),
	};
}

function doneOf({ plan, tick, sent }: LiveRun): number {
	const { kind, messages, warmupNs, durationNs } = plan.schedule;
	const share = kind === "closed" ? sent / messages : (tick.at * 1e9) / (warmupNs + durationNs);
	return Math.min(1, share);
}
