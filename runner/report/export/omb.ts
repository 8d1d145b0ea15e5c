import { existsSync } from "node:fs";
import path from "node:path";
import { inside } from "../../given-folder.ts";
import type { Tick } from "../../model/client-file.ts";
import type { Metric } from "../../model/plan.ts";
import type { Run } from "../../model/result.ts";
import { tell } from "../../text/tell.ts";
import { windowOf } from "../../verdict/facts.ts";
import { readableJson } from "../json.ts";
import { happened } from "../phases.ts";
import { runTitle } from "../words.ts";
import type { Exported } from "./exported.ts";
import { bySource } from "./groups.ts";
import { type Latency, latencyOf, type Measured, measured, PERCENTILES } from "./omb-latency.ts";
import { msOf, type Point } from "./points.ts";

/**
 * The result of OpenMessaging Benchmark (its class TestResult), a file for each run, from the histograms: lists have an entry for each 10 s.
 *
 * Its latencies count from the send call; ours stay what they are and count from the intended time (of a closed loop from the send call), so that
 * they are never better than the report's. Its delay is the generator's lag; what the system delayed is in the latencies already. A
 * percentile that the samples do not carry has no key, or an empty list. What was not measured is 0 with no quantiles, as there: its chart
 * script stops at a null.
 */
export function exportOmb(points: readonly Point[]): Exported {
	const notes: string[] = [];
	const files = bySource(points).flatMap(({ folder, points }) =>
		points.flatMap((point) => {
			const { source, run, search } = point;
			const leave = (why: string) => {
				const title =
					search === null ? runTitle(run, source.result) : `${point.system}, ${point.case}`;
				const report = source.shown;
				notes.push(tell("export-left-out", { report, run: title, why }));
				return [];
			};
			if (search !== null) return leave(tell("omb-no-search"));
			if (run.load.pattern === "request-reply") return leave(tell("omb-no-reply"));
			const where = folderOf(point);
			if (where === null) return leave(tell("omb-no-histograms"));
			const found = measured(where);
			const { unreadable } = found.facts;
			if (unreadable !== null) return leave(unreadable);
			return {
				name: `${folder}${path.basename(run.folder)}.json`,
				text: `${readableJson(testResult(point, found))}\n`,
			};
		}),
	);
	return {
		files,
		notes: files.length === 0 ? notes : [...notes, tell("omb-from-intended")],
		hints: [],
	};
}

// --- internal ---

/** null: it has no measured files. A result that was read names a folder of any kind. */
function folderOf({ source, run }: Point): string | null {
	try {
		const where = inside(source.folder, run.folder);
		return existsSync(path.join(where, "plan.json")) ? where : null;
	} catch {
		return null;
	}
}

function testResult(
	{ source, system, case: name, run }: Point,
	{ collected, facts, intervals }: Measured,
): object {
	const { ticks } = collected;
	const { startNs, endNs } = windowOf(collected);
	const startS = startNs / 1e9;
	const windowS = (endNs - startNs) / 1e9;
	const until = (second: number, of: Counted) => happened(ticks, startS, startS + second, of);
	// The last interval has what the others leave of the window's rate: of a broken last second nobody knows the part that was within the window.
	const perSecond = (rate: number | null, of: Counted) =>
		intervals.map(({ from, to }, i) => {
			const last = i === intervals.length - 1;
			const upTo = last ? (rate ?? 0) * windowS : until(to, of);
			return Math.max(0, upTo - until(from, of)) / (to - from);
		});
	const { sent, received, achieved } = run.throughput;
	const fields = (word: string, metric: Metric | null, unit: Unit) =>
		latencyFields(word, latencyOf(facts, metric, intervals), unit);
	const { pattern, topics, producers } = run.load;
	const nobody = pattern === "publish" || pattern === "backlog";
	return {
		workload: `${source.result.scenario}, ${name}`,
		driver: system,
		messageSize: run.load.messageBytes,
		topics,
		partitions: run.load.partitions,
		producersPerTopic: Math.ceil(producers / topics),
		consumersPerTopic: consumersPerTopic(run),
		publishRate:
			sent === null
				? perSecond(achieved, (t) => t.sent)
				: perSecond(sent, (t) => t.acked ?? t.sent),
		// Nobody writes down when a message failed.
		publishErrorRate: intervals.map(() => (run.failed ?? 0) / windowS),
		consumeRate:
			received === null ? intervals.map(() => 0) : perSecond(received, (t) => t.received),
		backlog: intervals.map(({ to }) => {
			const until = startS + to + 1e-9;
			return ticks.findLast(({ at }) => at <= until)?.inFlight ?? 0;
		}),
		...fields("PublishLatency", pattern === "publish" ? run.main : "ack", msOf),
		...fields("PublishDelayLatency", "lag", (ns) => Math.round(ns / 1e3)),
		...fields("EndToEndLatency", nobody ? null : run.main, msOf),
	};
}

type Counted = (tick: Tick) => number | null;

function consumersPerTopic({ load }: Run): number {
	if (load.pattern === "publish") return 0;
	// Of each subscription.
	return Math.max(1, Math.ceil(load.consumers / load.topics));
}

/** ns -> the number that the format wants. */
type Unit = (ns: number) => number;

function latencyFields(word: string, latency: Latency, unit: Unit): object {
	const list = word.replace(/^./, (letter) => letter.toLowerCase());
	const percentiles = Object.entries(PERCENTILES);
	// An average is a fraction of a unit, of whole units too.
	const mean = (ns: number) => (unit === msOf ? msOf(ns) : ns / 1e3);
	return {
		[`${list}Avg`]: latency.means.map(mean),
		...Object.fromEntries(
			percentiles.map(([key, p]) => [`${list}${key}`, (latency.parts.get(p) ?? []).map(unit)]),
		),
		[`${list}Max`]: latency.maxima.map(unit),
		[`aggregated${word}Avg`]: mean(latency.mean),
		...Object.fromEntries(
			percentiles.flatMap(([key, p]) => {
				const ns = latency.whole.get(p) ?? null;
				return ns === null ? [] : [[`aggregated${word}${key}`, unit(ns)]];
			}),
		),
		[`aggregated${word}Max`]: unit(latency.max),
		[`aggregated${word}Quantiles`]: Object.fromEntries(
			latency.quantiles.map(([p, ns]) => [Number.isInteger(p) ? `${p}.0` : `${p}`, unit(ns)]),
		),
	};
}
