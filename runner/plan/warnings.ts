import { failure } from "../errors.ts";
import { grouped } from "../grouped.ts";
import type { Plan } from "../model/plan.ts";
import { busy, busyShare, type Consuming, idle, type LoadProblem } from "../scenario/consumers.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { said } from "../text/say.ts";
import { formatCount, formatDuration, plural, ratePerSecond } from "../units.ts";
import type { World } from "../world.ts";
import { tooDeepWarnings } from "./depth.ts";
import { distinct } from "./distinct.ts";
import { longest, rigExpiryWarnings } from "./rig-expiry.ts";
import { intendedInWindow } from "./samples.ts";

/**
 * Before anything starts: warns of each SLA line that the samples will not carry (under `strict` it throws instead), and of what
 * would make a comparison unfair.
 */
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
	for (const warning of [
		...warnings,
		...warningsOf(scenario, plans),
		...rigExpiryWarnings(
			scenario.rig,
			longest(plans, { floors: true, confirm: false }),
			{ doing: "the runs take", remedy: "make fewer of them (--only), or stand a new one up" },
			world,
		),
	])
		world.stderr.write(`Warning: ${warning}\n`);
}

/** What would make figures say something else than they seem to. */
export function warningsOf(scenario: Scenario, plans: readonly Plan[]): string[] {
	return [...unequalPrefetch(scenario, plans), ...loadWarnings(plans)];
}

/** The group that a plan's consumers are. */
export function consuming(plan: Plan): Consuming {
	return { ...plan, topics: plan.topics.length };
}

/** Producers that have nothing to send in the window; null: there are none. */
function idleProducers(plan: Plan): LoadProblem | null {
	const messages = intendedInWindow(plan);
	const { producers, connections } = plan;
	if (plan.quick || plan.search !== null || messages >= producers) return null;
	const idle = producers - messages;
	const due = `only ${plural(messages, "message")} ${messages === 1 ? "is" : "are"} due`;
	return {
		said: said(
			"producers-idle",
			`${idle} of ${plural(producers, "producer")} send${idle === 1 ? "s" : ""} nothing, because ${due}`,
			{ idle, producers, messages },
		),
		remedy: `write ${connections > messages ? "connections" : "producers"}: ${Math.max(1, messages)}`,
	};
}

// --- internal ---

/** What a load asks of itself that no broker can mend; each once, with the first run that it is about. */
function loadWarnings(plans: readonly Plan[]): string[] {
	const pairs = distinct(plans, (plan) => JSON.stringify([plan.system, plan.case]));
	const found = pairs.flatMap((plan) =>
		[idle(consuming(plan)), busyAt(plan), idleProducers(plan)].flatMap((problem) =>
			problem === null ? [] : [{ plan, text: `${problem.said.text}; ${problem.remedy}` }],
		),
	);
	return [...grouped(found, ({ text }) => text)].map(([text, [first, ...more]]) => {
		const others = more.length === 0 ? "" : ` (and ${more.length} more)`;
		return `${first?.plan.system}, ${first?.plan.case}${others}: ${text}`;
	});
}

/** At its highest rate; what has none is bounded by its consumers. */
function busyAt(plan: Plan): LoadProblem | null {
	const of = consuming(plan);
	const { rate } = plan.schedule;
	if (rate !== null && plan.search === null) return busy(of, ratePerSecond(rate));
	const perMessage = busyShare(of, 1);
	if (perMessage === 0) return null;
	const workNs = of.work?.meanNs ?? 0;
	const perSecond = Math.floor(1 / perMessage);
	return {
		said: said(
			"consumers-bound",
			`with ${formatDuration(workNs)} of work for each message the consumers carry at most ${formatCount(perSecond)}/s, whatever the broker`,
			{ workNs, perSecond },
		),
		remedy: "to see more of the broker, use more consumers",
	};
}

/** Behind a slow consumer its prefetch is a queue of its own: systems with different ones are not compared by their brokers. */
function unequalPrefetch({ systems }: Scenario, plans: readonly Plan[]): string[] {
	const working = new Set(plans.filter(({ work }) => work !== null).map(({ system }) => system));
	const known = systems.flatMap(({ key, traits: { prefetch } }) =>
		prefetch === null || !working.has(key) ? [] : [{ key, prefetch }],
	);
	const values = new Set(known.map(({ prefetch }) => prefetch));
	return values.size < 2
		? []
		: [
				`consumers with work hold different numbers of messages (${known.map(({ key, prefetch }) => `${key} ${prefetch}`).join(", ")}), and those wait behind the work: write the same prefetch for all`,
			];
}
