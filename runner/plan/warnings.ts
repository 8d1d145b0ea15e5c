import { failure } from "../errors.ts";
import type { Plan } from "../model/plan.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { formatCount } from "../units.ts";
import type { World } from "../world.ts";
import { loadWarnings } from "./load-warnings.ts";
import { longest } from "./longest.ts";
import { outline, tooDeepSentence } from "./outline.ts";
import { rigExpiryWarnings } from "./rig-expiry.ts";

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
	const warnings = outline(plans).tooDeep.map((line) => tooDeepSentence(line, formatCount));
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

// --- internal ---

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
