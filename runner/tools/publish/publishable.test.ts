import { describe, expect, test } from "vitest";
import { comparedResult } from "../../compare/compared.fake.ts";
import type { Gate, Result, Run } from "../../model/result.ts";
import { searchedResult } from "../../page/pages.fake.ts";
import { publishable, unranked } from "./publishable.ts";

type Check = Run["validity"][number];

const SCENARIO = (load: string) => `
name: good
systems: { nats: { broker: nats }, redis: { broker: redis } }
repeat: 3
workload: { pattern: round-trip, message: 256B, ${load} }
`;
const OPEN = "rate: 1000/s, warmup: steady, duration: 20s";

const NAMES = ["complete", "lag", "offered", "held", "backlog", "clock"];
const MACHINE = ["floor", "cores", "cpuQuota", "steal", "others", "ownCpu"];

/** A result to which nothing can be said, but for what a test changes. */
function good(load = OPEN): Result {
	const { result } = comparedResult(SCENARIO(load), {}, (run) => ({
		folder: `runs/${run.index}`,
		window: { startNs: 14e9, endNs: 34e9 },
		versions: {
			k6: "v2.1.0",
			mqbench: "0.1.0",
			go: "go1.26",
			driver: run.system,
			library: `${run.system} v1`,
			server: `${run.system}-server 2`,
		},
		validity: [...NAMES, ...(load === OPEN ? ["warm-up", "steady"] : []), ...MACHINE].map((check) =>
			checkOf(check, "ok"),
		),
		metrics: Object.fromEntries(
			Object.entries(run.metrics).map(([name, of]) => [
				name,
				of && {
					...of,
					percentiles: of.percentiles.map((p) => ({ ...p, support: p.p <= 99 ? "ok" : "weak" })),
				},
			]),
		) as Run["metrics"],
	}));
	const command = { scenario: "s.yaml", args: ["run", "s.yaml"], file: null };
	return { ...result, command };
}

function checkOf(check: string, status: Check["status"]): Check {
	return {
		check,
		status,
		detail: `${check} is ${status}`,
		figure: null,
		limit: null,
		remedy: null,
	};
}

/** The runs of the first system, or all, with another outcome of a check. */
function judged(
	result: Result,
	name: string,
	status: Check["status"],
	most = Number.POSITIVE_INFINITY,
): void {
	for (const run of result.runs.filter(({ system }) => system === "nats").slice(0, most))
		run.validity = run.validity.map((one) => (one.check === name ? checkOf(name, status) : one));
}

/** All runs as if these checks had not been made, or with other fields. */
const unchecked = ({ runs }: Result, ...checks: string[]) => {
	for (const run of runs) run.validity = run.validity.filter((c) => !checks.includes(c.check));
};
const each = ({ runs }: Result, parts: Partial<Run>) => {
	for (const run of runs) Object.assign(run, parts);
};

type Change = (result: Result) => unknown;
const first = ({ runs }: Result) => runs[0] as Run;
const environment = ({ environment: e }: Result) => e as NonNullable<Result["environment"]>;

test("a report that shows all that it must is published", () => {
	const result = good();
	expect(publishable(result)).toEqual([]);
	expect(unranked(result)).toEqual([]);
});

describe("refused, with the one reason and what to do, is what is", () => {
	test.each<[string, Change, RegExp]>([
		["shortened", (r) => Object.assign(r, { quick: true }), /^it was shortened by --quick/],
		[
			"interrupted",
			(r) => Object.assign(first(r), { state: "interrupted" }),
			/^nats, .*, repeat 1 of 3: not measured to the end \(interrupted\): measure again/,
		],
		[
			"made by a command that nobody knows",
			(r) => Object.assign(r, { command: null }),
			/^there is no command\.json/,
		],
		[
			"resumed",
			(r) => {
				const { startedAt, node, go, bootId } = environment(r);
				environment(r).resumed = [{ startedAt, node, go, bootId }];
			},
			/^2 commands made its runs \(--resume\): measure again in one/,
		],
		[
			"of a machine whose start is not known",
			(r) => Object.assign(environment(r), { bootId: null }),
			/^environment\.json does not say bootId/,
		],
		[
			"of two versions of a broker",
			(r) => {
				const { versions } = first(r);
				first(r).versions = versions && { ...versions, server: "nats 1" };
			},
			/^its runs have different versions of server \(nats\) \(nats 1, nats-server 2\)/,
		],
		[
			"of two versions of mqbench",
			(r) => {
				const { versions } = first(r);
				first(r).versions = versions && { ...versions, mqbench: "0.0.9" };
			},
			/^its runs have different versions of mqbench \(0\.0\.9, 0\.1\.0\)/,
		],
		[
			"of a broker whose version is not known",
			(r) => {
				for (const run of r.runs.filter((one) => one.system === "redis"))
					Object.assign(run, {
						versions: run.versions && { ...run.versions, server: "" },
						brokerVersion: null,
					});
			},
			/^redis, .* and 2 more: the version of server is not known/,
		],
		[
			"measured twice",
			(r) => {
				r.runs = r.runs.filter((run) => run.repeat < 3);
			},
			/^nats, .* and 1 more: 2 repeats; at least 3 are needed/,
		],
		[
			"repeated more often where it did not pass",
			(r) => {
				r.runs.push({ ...first(r), index: 7, repeat: 4, confirms: true });
			},
			/^redis, .*: 3 repeats; at least 4 are needed, as many for each/,
		],
		[
			"never steady before its window opened",
			(r) => judged(r, "warm-up", "warn"),
			/^nats, .* and 2 more: not steady \(warm-up is warn\): write warmup: steady/,
		],
		[
			"of unknown drift, after a warm-up until steady as well",
			(r) => judged(r, "steady", "unknown", 1),
			/^nats, .*, repeat 1 of 3: not steady \(steady is unknown\)/,
		],
		[
			"drifting in all repeats alike",
			(r) => drifting(r, [-0.3, -0.4, -0.5]),
			/^nats, .* and 2 more: not steady \(steady is warn\)/,
		],
		[
			"drifting once after a fixed warm-up",
			(r) => {
				unchecked(r, "warm-up");
				judged(r, "steady", "warn", 1);
			},
			/^nats, .*, repeat 1 of 3: not steady \(steady is warn\)/,
		],
		[
			"of a load of which nothing shows that it was steady",
			(r) => unchecked(r, "warm-up", "steady"),
			/^nats, .* and 5 more: nothing can show that a load with stages was steady/,
		],
		[
			"of a window below 10 s",
			(r) => each(r, { window: { startNs: 14e9, endNs: 23e9 } }),
			/^nats, .* and 5 more: a window of 9s; below 10s it is unknown/,
		],
		[
			"of too few samples for what every report shows",
			(r) => weaken(first(r), 99, 999),
			/^nats, .*: the samples do not carry response p99, which takes 1s at this rate/,
		],
		[
			"of too few samples for a line of its SLA, which is left open",
			(r) => {
				const { system, case: name } = first(r);
				const line = { system, case: name, metric: "response" };
				const verdict = "inconclusive";
				r.gates = [{ ...line, verdict, percentile: 99.9 } as Gate];
			},
			/^nats, .* and 2 more: the samples do not carry response p99\.9, which takes/,
		],
		[
			"made beside other work",
			(r) => judged(r, "others", "warn"),
			/^nats, .* and 2 more: others is warn: measure on an idle machine/,
		],
		[
			"made on a machine that its host gave to others",
			(r) => stolen(r, 0.11),
			/^nats, .* and 2 more: steal is warn: measure on an idle machine/,
		],
		[
			"made where nobody could see other work",
			(r) => judged(r, "others", "unknown"),
			/whether others used the machine is not known \(others is unknown\)/,
		],
		[
			"made where nobody looked for other work",
			(r) => unchecked(r, "others"),
			/^nats, .* and 5 more: with target local it is unknown what else used/,
		],
		[
			"made on a machine whose free cores nobody counted",
			(r) => judged(r, "cores", "unknown"),
			/whether others used the machine is not known \(cores is unknown\)/,
		],
		[
			"made without a floor",
			(r) => judged(r, "floor", "unknown"),
			/what the load generator can do is not known \(floor is unknown\)/,
		],
		[
			"INVALID for another reason than a saturated machine",
			(r) => {
				first(r).verdict = "invalid";
				judged(r, "clock", "invalid", 1);
			},
			/^nats, .*, repeat 1 of 3: clock: clock is invalid/,
		],
	])("%s", (_, edit, reason) => {
		const result = good();
		edit(result);
		const reasons = publishable(result);
		expect(reasons[0]).toMatch(reason);
		expect(reasons, reasons.join("\n")).toHaveLength(1);
	});
});

describe("published is", () => {
	test("a saturated case, with its mark and without ranking", () => {
		const result = good();
		judged(result, "cores", "warn");
		judged(result, "lag", "invalid", 1);
		first(result).verdict = "invalid";
		expect(publishable(result)).toEqual([]);
		expect(unranked(result)).toEqual([`nats, ${first(result).case}`]);
	});

	test("what a hypervisor took a little of, as who rents a machine cannot choose", () => {
		const result = good();
		stolen(result, 0.05);
		expect(publishable(result)).toEqual([]);
	});

	test("a p99 whose slow messages came in few stalls, if it is only shown: samples it has", () => {
		const result = good();
		weaken(first(result), 99, 1000);
		expect(publishable(result)).toEqual([]);
	});

	test("what drifts in some of the repeats after a warm-up until steady, or in all of them to and fro", () => {
		const result = good();
		drifting(result, [0.3, 0.4]);
		expect(publishable(result)).toEqual([]);
		drifting(result, [0.3, -0.4, 0.5]);
		expect(publishable(result)).toEqual([]);
	});

	test.each([
		["sent", "lag", "invalid"],
		["taken: its queue grew", "backlog", "fail"],
	] as const)("a load that could not be %s, whatever its p50 does", (_, check, status) => {
		const result = good();
		drifting(result, [1, 2, 3]);
		judged(result, "warm-up", "warn");
		judged(result, check, status);
		expect(publishable(result)).toEqual([]);
	});

	test("what failed, as that is a result", () => {
		const result = good();
		each(result, { verdict: "fail" });
		expect(publishable(result)).toEqual([]);
	});
});

describe("a closed load, which no check of steadiness asks", () => {
	const CLOSED = "messages: 100000, inFlight: 100";
	const closed = (p50: (second: number) => number) => {
		const result = good(CLOSED);
		for (const run of result.runs) {
			run.main = "service";
			const [second] = run.series.seconds;
			run.series.seconds = Array.from({ length: 20 }, (_, s) => ({
				...(second as (typeof run.series.seconds)[number]),
				second: s,
				p50: p50(s),
			}));
		}
		return publishable(result);
	};

	test("is steady where p50 stays", () => {
		expect(closed((s) => 1e6 + (s % 3) * 1e4)).toEqual([]);
	});

	test("is a burst where nothing holds its senders back, so p50 grows, and a fast system is through within seconds", () => {
		const result = good("messages: 100000, inFlight: 100000");
		each(result, { window: { startNs: 0, endNs: 2e9 } });
		expect(publishable(result)).toEqual([]);
		first(result).window = { startNs: 0, endNs: 0.9e9 };
		expect(publishable(result)).toEqual([
			expect.stringMatching(/all was through after 900ms; below 1s the first/),
		]);
	});

	test("is cold where p50 falls throughout", () => {
		expect(closed((s) => 2e6 - s * 5e4)).toEqual([
			expect.stringMatching(/and 5 more: not steady \(p50 changed by \d+ %\)/),
		]);
	});
});

test("of a search the answer is judged: it has to be confirmed, three times", () => {
	const result = searchedResult();
	const [search] = result.searches;
	if (!search) throw new Error("another fake");
	search.confirmed = false;
	const reasons = publishable(result);
	expect(reasons).toContainEqual(expect.stringMatching(/: 1 repeat; at least 3 are needed/));
	expect(reasons).toContainEqual(expect.stringMatching(/the highest rate was not confirmed/));
});

/** p50 of the first system's repeats changes by these shares of it. */
function drifting(result: Result, shares: readonly number[]): void {
	judged(result, "steady", "warn", shares.length);
	for (const [i, run] of result.runs
		.filter(({ system }) => system === "nats")
		.slice(0, shares.length)
		.entries())
		for (const one of run.validity)
			if (one.check === "steady") one.values = { share: shares[i] ?? 0 };
}

/** The hypervisor took a share of the CPU time from all runs of the first system. */
function stolen(result: Result, share: number): void {
	judged(result, "steal", "warn");
	for (const { validity } of result.runs)
		for (const one of validity) if (one.check === "steal") one.values = { share, much: true };
}

/** Few samples, or few stalls, stand behind a percentile. */
function weaken(run: Run, p: number, n: number): void {
	const of = run.metrics.response;
	if (of === null) throw new Error("another fixture");
	run.metrics.response = {
		...of,
		n,
		percentiles: of.percentiles.map((one) => (one.p === p ? { ...one, support: "weak" } : one)),
	};
}
