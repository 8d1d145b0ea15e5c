import { machineOf, machineText } from "../compare/machine.ts";
import { largestOf, smallestOf } from "../extremes.ts";
import type { Result, Run } from "../model/result.ts";
import { isElsewhere } from "../model/run-file.ts";
import { QUICK_MEANS } from "../plan/load-text.ts";
import { offenderText, topologyText } from "../result/words.ts";
import { formatCount, formatDuration } from "../units.ts";

/** Sentences about a whole result, or a run, that only documents have. */

/** "Generator and broker shared one host ..."; null when none did, or nobody knows. */
export function sameHostText({ runs }: Result): string | null {
	const sharing = runs.filter((run) => run.sameHost).length;
	const which = sharing < runs.length ? ` in ${sharing} of ${runs.length} runs` : "";
	return sharing === 0
		? null
		: `generator and broker shared one host${which}: each took CPU from the other`;
}

/** "nats: 3 nodes on 1 host, ...", for all systems of which that is so; null: of none. */
export function topologiesText({ runs }: Result): string | null {
	const shared = runs.filter((r) => r.nodesShareHost && r.topology !== null);
	const texts = shared.map((r) => `${r.system}: ${topologyText(r)}`);
	return texts.length === 0 ? null : [...new Set(texts)].join("; ");
}

/** "Measured on linux x64 6.1.0, 4 cores", or "on 3 i4i.xlarge for brokers (aws eu-central-1), started from ..."; where no client ran there, what it was: "Started from ...". null: nobody wrote it down. */
export function measuredText(result: Result): string | null {
	const known = machineOf(result.environment);
	if (known === null) return null;
	const machine = machineText({ ...known, rig: undefined });
	const rig = result.environment?.rig ?? null;
	if (rig)
		return `Measured on ${rig.machines}, ${rig.here ? "with the load from" : "started from"} ${machine}`;
	const elsewhere =
		result.runs.length > 0 &&
		result.runs.every(
			({ clients }) => clients.length > 0 && clients.every(({ kind }) => isElsewhere(kind)),
		);
	return elsewhere
		? `Started from ${machine}; clients on other machines made the load`
		: `Measured on ${machine}`;
}

/** The column of what consumers got: "received/s", in a fan-out "copies/s". */
export function receivedColumn({ load }: Pick<Run, "load">): string {
	return load.pattern === "fan-out" ? "copies/s" : "received/s";
}

/**
 * "client 0 to node 1 74us, client 0 to node 2 80us (medians of 20 TCP connects)"; of more than 4 pairs the shortest and the longest. null:
 * nobody has measured it.
 */
export function networkText({ network, clients }: Pick<Run, "network" | "clients">): string | null {
	const pair = ({ client, node }: Run["network"][number]) =>
		`${clients.length === 0 ? "this machine" : `client ${client}`} to node ${node}`;
	const known = network.flatMap((path) =>
		path.p50Ns === null || path.connects === null
			? []
			: [{ at: pair(path), ns: path.p50Ns, connects: path.connects }],
	);
	const unknown = network.filter(({ p50Ns }) => p50Ns === null);
	const texts = known.map(({ at, ns }) => `${at} ${formatDuration(ns)}`);
	const ends = [...known].sort((a, b) => a.ns - b.ns);
	const [first, last] = [ends[0], ends.at(-1)];
	const shown =
		texts.length <= MOST_PATHS || first === undefined || last === undefined
			? texts
			: [
					`${texts.length} paths of ${formatDuration(first.ns)} (${first.at}) to ${formatDuration(last.ns)} (${last.at})`,
				];
	const fewest = smallestOf(known.map(({ connects }) => connects));
	const most = largestOf(known.map(({ connects }) => connects));
	const how =
		known.length === 0
			? ""
			: ` (${known.length === 1 ? "median" : "medians"} of ${fewest === most ? most : `${fewest} to ${most}`} TCP connects)`;
	const all = [
		...(shown.length === 0 ? [] : [`${shown.join(", ")}${how}`]),
		...unknown.map((path) => `${pair(path)} not known (${path.error})`),
	];
	return all.length === 0 ? null : all.join("; ");
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
		: `a backlog of ${formatCount(drain.peak ?? 0)} messages was drained in ${formatDuration(drain.drainNs)}, ${formatCount(drain.perSecond ?? 0)} received/s: until at most ${formatCount(drain.drainedAt)} waited, with producers going on`;
}

/** What the marks in a table of percentiles mean. */
export const WEAK_MEANS =
	"based on few samples, or on slow messages that came in few clusters; or the window is too short (below 10s) to tell";

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

// --- internal ---

/** More paths than these nobody reads one by one. */
const MOST_PATHS = 4;
