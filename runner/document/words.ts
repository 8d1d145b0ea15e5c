import type { Result, Run, Search } from "../model/result.ts";
import { isElsewhere } from "../model/run-file.ts";
import { QUICK_MEANS } from "../plan/load-text.ts";
import { amount, show } from "../result/show.ts";
import { machineText, offenderText, topologyText } from "../result/words.ts";
import { tell } from "../text/tell.ts";
import { formatCount, formatDuration, plural } from "../units.ts";

/** Sentences about a whole result, or a run, that only documents have. */

/** "Generator and broker shared one host ..."; null when none did, or nobody knows. */
export function sameHostText({ runs }: Result): string | null {
	const sharing = runs.filter((run) => run.sameHost).length;
	const which = sharing < runs.length ? ` in ${sharing} of ${runs.length} runs` : "";
	return sharing === 0 ? null : tell("host-shared", { which });
}

/** "nats: 3 nodes on 1 host, ...", for all systems of which that is so; null: of none. */
export function topologiesText({ runs }: Result): string | null {
	const shared = runs.filter((r) => r.nodesShareHost && r.topology !== null);
	const texts = shared.map((r) => `${r.system}: ${topologyText(r)}`);
	return texts.length === 0 ? null : [...new Set(texts)].join("; ");
}

/** "Measured on linux x64 6.1.0, 4 cores", or "on 3 i4i.xlarge for brokers (aws eu-central-1), started from ..."; where no client ran there, what it was: "Started from ...". null: nobody wrote it down. */
export function measuredText(result: Result): string | null {
	const machine = machineText(result);
	if (machine === null) return null;
	const rig = result.environment?.rig ?? null;
	if (rig)
		return `Measured on ${rig.machines}, ${rig.here ? "with the load from" : "started from"} ${machine}`;
	const elsewhere =
		result.runs.length > 0 &&
		result.runs.every(
			({ clients }) => clients.length > 0 && clients.every(({ kind }) => isElsewhere(kind)),
		);
	return elsewhere ? tell("started-from", { machine }) : `Measured on ${machine}`;
}

/** What --quick does to a result; null: the runs have their full length. */
export function quickText({ quick }: Result): string | null {
	return quick ? QUICK_MEANS : null;
}

/** "first lost: producer 0, sequence 4711, due 5.2s after the window opened", for each kind that occurred. */
export function offenderTexts(run: Run): string[] {
	return Object.keys(run.offenders).flatMap((kind) => offenderText(kind, run) ?? []);
}

/** "a backlog of 50 000 messages was drained in 2.1s, 25 000/s: until at most 1 000 waited"; null: there was none. */
export function drainText({ drain }: Run): string | null {
	if (drain === null) return null;
	return drain.drainNs === null
		? drain.problem
		: tell("backlog-was-drained", {
				peak: formatCount(drain.peak ?? 0),
				time: formatDuration(drain.drainNs),
				rate: formatCount(drain.perSecond ?? 0),
				drainedAt: formatCount(drain.drainedAt),
			});
}

/** The runs of a search below each other, as words: latency over offered rate. */
export function searchTable({ runs }: Search): {
	readonly head: readonly string[];
	readonly rows: readonly (readonly string[])[];
} {
	return {
		head: ["rate", "run", "verdict", "p50", "p99", "max", "why"],
		rows: runs.map((run) => [
			`${formatCount(run.rate)}/s`,
			run.role,
			run.verdict,
			...[run.p50, run.p99, run.max].map((ns) => show(amount(ns, "ns"))),
			run.why ?? "",
		]),
	};
}

/** The commonest errors, at most `most` of them; the last line says how many more there are. */
export function errorTexts(run: Run, most: number): string[] {
	const more = run.errors.length - most;
	return [
		...run.errors.slice(0, most).map((e) => `error, ${plural(e.count, "time")}: ${e.message}`),
		...(more > 0 ? [`and ${plural(more, "more error")}: see report.html`] : []),
	];
}

/** What the marks in a table of percentiles mean. */
export const WEAK_MEANS = tell("weak-means");

/** Which `mqbench explain` says more about this result; empty when nothing is to be explained. */
export function explainText(result: Result): string {
	const percentiles = result.runs.flatMap((r) =>
		Object.values(r.metrics).flatMap((m) => m?.percentiles ?? []),
	);
	const topics = [
		result.runs.some((r) => r.metrics.response) ? "response" : "",
		result.runs.some((r) => r.breakdown?.length) ? "breakdown" : "",
		result.runs.some((r) => r.load.schedule.kind === "closed") ? "closed" : "",
		percentiles.some((p) => p.support !== "ok") ? "support" : "",
		result.verdict === "invalid" ? "invalid" : "",
		result.verdict === "inconclusive" ? "inconclusive" : "",
	].filter((t) => t !== "");
	return topics.length === 0
		? ""
		: `mqbench explain ${topics.join(", ").replace(/, (\w+)$/, " or $1")}`;
}
