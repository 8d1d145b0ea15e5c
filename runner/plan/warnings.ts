import { noBroker } from "../brokers/index.ts";
import { failure } from "../errors.ts";
import { largestOf } from "../extremes.ts";
import { distinct, grouped } from "../grouped.ts";
import type { Plan } from "../model/plan.ts";
import { busy, type Consuming, idle } from "../scenario/consumers.ts";
import type { RigFile } from "../scenario/rig-file.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { sum } from "../stats/sum.ts";
import { formatCount, formatDuration, ratePerSecond } from "../units.ts";
import type { World } from "../world.ts";
import { tooDeepWarnings } from "./depth.ts";
import { openConnections } from "./samples.ts";

/** Warns of SLA lines that the samples will not carry (under `strict` it throws instead), and of unfair comparisons. */
export function warnBeforeRuns(
	scenario: Scenario,
	plans: readonly Plan[],
	args: { readonly path: string; readonly quiet?: boolean | undefined },
	world: Pick<World, "stderr" | "clock">,
): void {
	const warnings = tooDeepWarnings(plans);
	if (scenario.strict && warnings.length > 0)
		throw failure("percentile-too-deep", { path: args.path, warnings });
	if (args.quiet) return;
	const takesNs = longest(plans, { floors: true, confirm: false });
	for (const warning of [
		...warnings,
		...warningsOf(scenario, plans),
		...rigExpiryWarnings(scenario.rig, takesNs, world.clock.nowMs()),
	])
		world.stderr.write(`Warning: ${warning}\n`);
}

export function warningsOf(scenario: Scenario, plans: readonly Plan[]): string[] {
	return [
		...unequalPrefetch(scenario, plans),
		...loadWarnings(plans),
		...connectionWarnings(scenario, plans),
	];
}

export function consuming(plan: Plan): Consuming {
	return { ...plan, topics: plan.topics.length };
}

/** Longest duration of all runs with broker starts and drains, ns: rented machines must outlast it. A search takes longer only if a deep percentile needs it at low rates. */
export function longest(
	plans: readonly Plan[],
	also: { readonly floors: boolean; readonly confirm: boolean },
): number {
	const runs = sum(plans.filter(({ beside }) => beside === null).map(ofRun));
	const [first] = plans;
	const repeats = first?.repeats ?? 1;
	const cases = new Set(plans.filter(({ broker }) => broker !== noBroker).map((plan) => plan.case));
	return (
		runs +
		(also.confirm ? Math.ceil((runs * CONFIRMING) / repeats) : 0) +
		(also.floors ? cases.size * FLOOR_NS : 0)
	);
}

/** Null if it has no end, or the end is unknown. */
export function rigEndsAt({ cloud, expiresAt }: RigFile): string | null {
	return cloud?.endsAt ?? expiresAt;
}

// --- internal ---

function rigExpiryWarnings(rig: RigFile | null, takesNs: number, nowMs: number): string[] {
	const end = rig === null ? null : rigEndsAt(rig);
	if (rig === null || end === null) return [];
	const leftNs = (Date.parse(end) - nowMs) * 1e6;
	if (leftNs >= takesNs) return [];
	return [
		leftNs < 0
			? `the rig ${rig.id} has expired (${end}): runs on it may end at any moment; stand a new one up`
			: `the rig ${rig.id} ends in ${formatDuration(leftNs)} (${end}), and the runs take up to ${formatDuration(takesNs)}: make fewer of them (--only), or stand a new one up`,
	];
}

/** Problems of consumers that no broker can mend; each once, with the first run that has it. */
function loadWarnings(plans: readonly Plan[]): string[] {
	const pairs = distinct(plans, (plan) => JSON.stringify([plan.system, plan.case]));
	const found = pairs.flatMap((plan) => {
		const { rate } = plan.schedule;
		const rated = rate !== null && plan.search === null;
		const atHighest = rated ? busy(consuming(plan), ratePerSecond(rate)) : null;
		return [idle(consuming(plan)), atHighest].flatMap((problem) =>
			problem === null ? [] : [{ plan, text: `${problem.said.text}; ${problem.remedy}` }],
		);
	});
	return [...grouped(found, ({ text }) => text)].map(([text, [first, ...more]]) => {
		const others = more.length === 0 ? "" : ` (and ${more.length} more)`;
		return `${first?.plan.system}, ${first?.plan.case}${others}: ${text}`;
	});
}

function connectionWarnings({ systems }: Scenario, plans: readonly Plan[]): string[] {
	return systems.flatMap(({ key, traits: { maxConnections } }) => {
		const own = plans.filter(({ system }) => system === key);
		const most = largestOf([0, ...own.map(openConnections)]);
		if (maxConnections === undefined || most <= maxConnections.most) return [];
		const { option, most: taken } = maxConnections;
		return [
			`${key} takes ${formatCount(taken)} connections, and up to ${formatCount(most)} may be open: write config: { ${option}: ${most} }`,
		];
	});
}

/** Behind a slow consumer the prefetch is a queue: with different ones, systems do not compare by their brokers. */
function unequalPrefetch({ systems }: Scenario, plans: readonly Plan[]): string[] {
	const working = new Set(plans.filter(({ work }) => work !== null).map(({ system }) => system));
	const known = systems.flatMap(({ key, traits: { prefetch } }) =>
		prefetch === null || !working.has(key) ? [] : [{ key, prefetch }],
	);
	if (new Set(known.map(({ prefetch }) => prefetch)).size < 2) return [];
	return [
		`consumers with work hold different numbers of messages (${known.map(({ key, prefetch }) => `${key} ${prefetch}`).join(", ")}), and those wait behind the work: write the same prefetch for all`,
	];
}

/** A broker's start and a look at clocks, before a run's first message. */
const START_NS = 15e9;
/** Runs of a search whose rates always pass or always fail, most of them short (search/runs.ts). */
const SEARCH_RUNS = 30;
const SEARCH_RUN_NS = 40e9;
/** A floor's window and start. */
const FLOOR_NS = 10e9;
/** Repeats that --confirm adds. */
const CONFIRMING = 2;

function ofRun({ schedule, drainNs, search }: Plan): number {
	const around = START_NS + schedule.warmupNs + drainNs;
	return search === null
		? around + schedule.durationNs
		: SEARCH_RUNS * (around + Math.max(SEARCH_RUN_NS, schedule.durationNs));
}
