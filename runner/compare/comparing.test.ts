import { describe, expect, test } from "vitest";
import { baselineWith, machineWith } from "./baseline.fake.ts";
import { comparingOf, exitCodeOfComparing } from "./comparing.ts";

const around = (value: number) => [0.99, 0.995, 1, 1.005, 1.01].map((f) => value * f);
const run = (factor: number, parts: Parameters<typeof baselineWith>[1] = {}, path = "b") => ({
	path,
	baseline: baselineWith(
		{
			"response p50": around(1e6),
			"response p99": around(factor * 1e6),
			"response max": around(9e6),
		},
		{ runId: path, ...parts },
	),
});
const a = run(1, {}, "a");
const outcome = (...others: ReturnType<typeof run>[]) => comparingOf(a, others).outcome;

describe("the outcome", () => {
	test("one figure that decides and is worse is a regression, whatever the others are", () => {
		expect(outcome(run(2))).toBe("regressed");
		expect(outcome(run(1), run(0.5), run(2))).toBe("regressed");
	});

	test("nothing worse and something better is an improvement", () => {
		expect(outcome(run(0.5))).toBe("improved");
		expect(outcome(run(1))).toBe("same");
	});

	test("what the runs do not tell leaves it open", () => {
		expect(outcome(run(1.25))).toBe("inconclusive");
	});

	test("not worse, but perhaps better, is not open", () => {
		expect(outcome(run(0.8))).toBe("same");
	});

	test("a max that is worse decides nothing", () => {
		const worse = run(1);
		for (const entry of worse.baseline.runs) entry.figures["response max"] = 9e9;
		expect(outcome(worse)).toBe("same");
	});

	test("another machine decides nothing", () => {
		const machine = machineWith({ cpu: "Other CPU" });
		expect(outcome(run(2, { machine }))).toBe("advisory");
		// But what can be judged is.
		expect(outcome(run(2, { machine }), run(2))).toBe("regressed");
	});

	test("each candidate has its own, and of several the worst counts", () => {
		const machine = machineWith({ cpu: "Other CPU" });
		const found = comparingOf(a, [run(1), run(2, { machine })]);
		expect(found.others.map((other) => other.outcome)).toEqual(["same", "advisory"]);
		expect(found.outcome).toBe("advisory");
		expect(found.summary).toBe(
			"B: none of 2 figures that decide is worse by more than its margin; C: shown only: nothing here may decide",
		);
		const elsewhere = run(1, { entry: { case: "other" } });
		expect(outcome(run(1), run(0.5))).toBe("improved");
		expect(outcome(run(0.5), run(1.25), run(1, { machine }))).toBe("inconclusive");
		expect(outcome(run(1), elsewhere)).toBe("nothing");
		expect(outcome(run(2), elsewhere)).toBe("regressed");
	});

	test("runs that do not count on the candidate's side leave it open", () => {
		const invalid = run(1, {
			entries: ({ repeat }) => (repeat > 4 ? { without: "invalid", figures: {} } : {}),
		});
		const found = comparingOf(a, [invalid]);
		expect(found.outcome).toBe("inconclusive");
		expect(exitCodeOfComparing(found.outcome, "fail")).toBe(6);
	});

	test("a case that could not be compared may be the one that is worse", () => {
		const more = run(1);
		const lost = run(1, { entry: { case: "lost", without: "invalid" } });
		more.baseline.runs.push(...lost.baseline.runs);
		const base = run(1, {}, "a");
		base.baseline.runs.push(...run(1, { entry: { case: "lost" } }).baseline.runs);
		const found = comparingOf(base, [more]);
		expect(found.outcome).toBe("inconclusive");
		expect(found.summary).toBe("not everything could be compared");
	});

	test("nothing in common", () => {
		expect(outcome(run(1, { entry: { case: "other" } }))).toBe("nothing");
	});

	test("counts what decides", () => {
		expect(comparingOf(a, [run(2)]).summary).toBe(
			"1 of 2 figures that decide is worse by more than its margin",
		);
	});
});

test.each([
	["regressed", 99, 99],
	["inconclusive", 0, 6],
	["advisory", 0, 6],
	["improved", 0, 0],
	["same", 0, 0],
	["nothing", 2, 2],
] as const)("exit code of %s: %i, with --on-inconclusive fail %i", (of, warn, fail) => {
	expect(exitCodeOfComparing(of, "warn")).toBe(warn);
	expect(exitCodeOfComparing(of, "pass")).toBe(warn);
	expect(exitCodeOfComparing(of, "fail")).toBe(fail);
});

describe("what differs", () => {
	const differences = (parts: Parameters<typeof baselineWith>[1]) =>
		comparingOf(a, [run(1, parts)]).others[0]?.differences;

	test("nothing", () => {
		expect(differences({})).toEqual([]);
	});

	test("versions, settings and machines, each with both values", () => {
		expect(
			differences({
				mqbench: "0.2.0",
				machine: machineWith({ cores: 4, boot: null }),
				systems: { nats: { broker: "nats-server 2.16.0", "client tls": "true" } },
			}),
		).toEqual([
			{ what: "mqbench", a: "0.1.0", b: "0.2.0" },
			{ what: "cores", a: "2", b: "4" },
			{ what: "start of the machine", a: "boot 1", b: "not known" },
			{ what: "nats: broker", a: "nats-server 2.15.2", b: "nats-server 2.16.0" },
			{ what: "nats: client tls", a: "not known", b: "true" },
		]);
	});

	test("two systems of one run: their settings", () => {
		const one = run(1, { systems: { old: { broker: "1" }, new: { broker: "2" } } });
		expect(comparingOf(one, [one], { systems: ["old", "new"] }).others[0]?.differences).toEqual([
			{ what: "old, new: broker", a: "1", b: "2" },
		]);
	});
});
