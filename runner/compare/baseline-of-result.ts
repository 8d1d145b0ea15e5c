import type { Baseline } from "../model/comparison.ts";
import type { ResultFile, Run, RunInFile, Search } from "../model/result.ts";
import { figuresOf, HIGHEST_RATE } from "../result/fields.ts";
import { readableJson } from "../result/json.ts";
import type { Judgeable } from "../result/outcomes.ts";
import { maskAll } from "../secrets.ts";
import { hashOf, machineOf } from "./machine.ts";
import { searchFacts, workFacts } from "./work.ts";

/** A run that is invalid, an error or incomplete has a reason instead of figures. */
export function baselineOf(result: Judgeable | ResultFile): Baseline {
	const single = result.runs.filter((run) => run.search === null);
	const searches = result.searches.flatMap((search) => {
		const first = result.runs.find((r) => r.index === search.runs[0]?.index);
		return first === undefined ? [] : [{ search, first }];
	});
	const facts = [
		...single.map(workFacts),
		...searches.map(({ search, first }) => searchFacts(first, search.sla)),
	];
	return maskAll({
		schema: 1,
		scenario: result.scenario,
		runId: result.runId,
		startedAt: result.environment?.startedAt ?? null,
		mqbench: result.environment?.mqbench ?? null,
		machine: machineOf(result.environment),
		quick: result.quick,
		works: Object.fromEntries(facts.map((fact) => [hashOf(fact), fact])),
		systems: systemsOf(result),
		runs: [
			...single.map(entryOf),
			...searches.map(({ search, first }) => searchEntry(search, first)),
		],
	});
}

/** One line for each run, work and system: a change of one changes one line. */
export function baselineText(baseline: Baseline): string {
	return `${readableJson(baseline, 2)}\n`;
}

/** Why the run's figures do not count; null if they do, whatever the SLA's verdict. */
export function withoutOf(run: AnyRun): string | null {
	if (["invalid", "error", "interrupted"].includes(run.verdict)) return run.verdict;
	if (run.state === "aborted")
		return `stopped as ${run.abortedBy ?? "an SLA"} could not be met any more`;
	return run.state === "complete" ? null : run.state;
}

// --- internal ---

type Entry = Baseline["runs"][number];
type AnyRun = Run | RunInFile;

function entryOf(run: AnyRun): Entry {
	const without = withoutOf(run);
	return {
		system: run.system,
		case: run.case,
		repeat: run.repeat,
		work: hashOf(workFacts(run)),
		main: run.main,
		closed: run.load.schedule.kind === "closed",
		without,
		clockBoundNs: run.clockBoundNs,
		verdict: run.verdict,
		broker: serverOf(run),
		...(without === null ? figuresIn(run) : { figures: {}, beyond: [], weak: [] }),
	};
}

function searchEntry(search: Search, first: AnyRun): Entry {
	const { lo, limitedBy, verdict, repeat } = search;
	return {
		...entryOf(first),
		system: search.system,
		case: search.case,
		repeat: Math.max(1, repeat),
		work: hashOf(searchFacts(first, search.sla)),
		without: ["pass", "inconclusive"].includes(verdict) ? null : `${verdict}: ${search.answer}`,
		clockBoundNs: null,
		verdict,
		figures: lo === null ? {} : { [HIGHEST_RATE]: lo },
		// The search could not reach the system's limit.
		beyond:
			lo !== null && (limitedBy === "generator" || limitedBy === "nothing") ? [HIGHEST_RATE] : [],
		weak: [],
	};
}

function figuresIn(run: AnyRun): Pick<Entry, "figures" | "beyond" | "weak"> {
	const kept = figuresOf(run).filter(({ metric, p, value }) => {
		// They are not results of the system, so the file keeps few of them.
		const own = metric === "lag" || metric === "queued";
		return value !== null && !(own && p > 99 && p < 100);
	});
	// Six digits: a rate is not more precise, and they keep the file small.
	const short = (rate: number) => Number(rate.toPrecision(6));
	return {
		figures: Object.fromEntries(
			kept.map(({ id, unit, value }) => [
				id,
				value && unit === "messages/s" ? short(value) : value,
			]),
		),
		beyond: kept.filter(({ atLeast }) => atLeast).map(({ id }) => id),
		weak: kept.filter(({ weak }) => weak).map(({ id }) => id),
	};
}

function serverOf(run: AnyRun): string | null {
	return run.versions?.server || run.brokerVersion || null;
}

/** From each system's first run whose clients reported versions: comparisons find differences between two systems here. */
function systemsOf({ runs }: Judgeable | ResultFile): Baseline["systems"] {
	const firstRuns = new Map<string, AnyRun>();
	for (const run of runs) if (!firstRuns.get(run.system)?.versions) firstRuns.set(run.system, run);
	return Object.fromEntries(
		[...firstRuns].map(([name, run]) => [
			name,
			{
				broker: serverOf(run) ?? run.load.broker,
				durability: run.load.durability,
				target: run.load.target,
				...(run.versions === null ? {} : { library: run.versions.library }),
				...prefixed("client", run.driverOptions ?? {}),
				...prefixed("broker", run.brokerSettings),
			},
		]),
	);
}

/** Without measurements, which differ each time: "store fdatasync", "volume fdatasync". */
function prefixed(of: string, settings: Readonly<Record<string, string>>): Record<string, string> {
	const kept = Object.entries(settings).filter(([name]) => !name.endsWith(" fdatasync"));
	return Object.fromEntries(kept.map(([name, value]) => [`${of} ${name}`, value]));
}
