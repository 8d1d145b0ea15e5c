import { collect } from "../evidence/collect.ts";
import { firstRun, fixture } from "../evidence/fixture.fake.ts";
import { type Facts, factsOf, UNKNOWN } from "./facts.ts";

const stored = factsOf(collect(firstRun(fixture("healthy"))), UNKNOWN);

/** For tests: a run of `seconds` at 1000/s with p99 < 20ms; inFlight(t) is how many wait t seconds after the window opened. */
export function simulated(
	inFlight: (t: number) => number,
	more: {
		seconds?: number;
		sent?: (second: number) => number;
		lost?: number;
		limitNs?: number | null;
	} = {},
): Facts {
	const { seconds = 20, sent = () => 1000, lost = 0, limitNs = 20e6 } = more;
	const { collected } = stored;
	const { plan, counters } = collected;
	const [tick] = collected.ticks;
	const [sla] = plan.sla;
	if (!tick || !counters.window || sla?.kind !== "percentile") throw new Error("another fixture");
	const ticks = Array.from({ length: seconds + 1 }, (_, i) => ({
		...tick,
		at: i + 1,
		sent: sent(i + 1),
		backlog: Array.from({ length: 10 }, (_, j) =>
			Math.max(0, Math.round(inFlight(i - 1 + (j + 1) / 10))),
		),
	}));
	return {
		...stored,
		collected: {
			...collected,
			ticks,
			counters: { ...counters, window: { ...counters.window, lost } },
			plan: {
				...plan,
				sla: limitNs === null ? [] : [{ ...sla, limitNs }],
				schedule: { ...plan.schedule, durationNs: seconds * 1e9, messages: 1000 * (seconds + 1) },
			},
		},
	};
}

/** For tests: as `simulated`, with these medians of response by second, in us. */
export function drifting(mediansUs: readonly number[], limitNs: number | null = null): Facts {
	const facts = simulated(() => 1, { seconds: mediansUs.length, limitNs });
	const whole = stored.merged.get("response")?.whole;
	if (whole === undefined) throw new Error("another fixture");
	const seconds = new Map(
		mediansUs.map((us, second) => {
			const ns = us * 1000;
			return [second, { count: 100, p50: ns, p99: ns, max: ns }];
		}),
	);
	return {
		...facts,
		merged: new Map([
			[
				"response",
				{ whole, maxNs: 0, seconds, bins: new Map(), phases: [], above: () => new Map() },
			],
		]),
	};
}
