import { expect, test } from "vitest";
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
type Run = ReturnType<typeof run>;
const a = run(1, {}, "a");
const machine = machineWith({ cpu: "Other CPU" });
/** Its max alone is worse. */
const worseMax = run(1);
for (const entry of worseMax.baseline.runs) entry.figures["response max"] = 9e9;
const invalid = run(1, {
	entries: ({ repeat }) => (repeat > 4 ? { without: "invalid", figures: {} } : {}),
});
const elsewhere = run(1, { entry: { case: "other" } });
const more = run(1, {}, "a");
more.baseline.runs.push(...elsewhere.baseline.runs);
const lost = run(1);
const spoilt = run(1, { entry: { case: "other", without: "invalid" } });
lost.baseline.runs.push(...spoilt.baseline.runs);

const WITHIN = "2 figures decide: 2 not worse";
const SHOWN = "shown only: nothing here may decide";
test.each<[what: string, Run, outcome: string, summary: string | null, a?: Run]>([
	["worse", run(2), "regressed", "2 figures decide: 1 worse by more than the margin, 1 not worse"],
	["better", run(0.5), "improved", "2 figures decide: 1 better, 1 not worse"],
	["no change", run(1), "same", WITHIN],
	["a max that is worse, which decides nothing", worseMax, "same", WITHIN],
	["open", run(1.25), "inconclusive", "2 figures decide: 1 open, 1 not worse"],
	["runs that do not count on the candidate's side", invalid, "inconclusive", null],
	["a lost case", lost, "inconclusive", `${WITHIN}; not everything could be compared`, more],
	["another machine", run(2, { machine }), "advisory", SHOWN],
	["nothing in common", elsewhere, "nothing", "nothing could be compared"],
])("%s: %#", (_, b, outcome, summary, base = a) => {
	const found = comparingOf(base, b);
	expect(found.outcome).toBe(outcome);
	if (summary !== null) expect(found.summary).toBe(summary);
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

test("versions, settings and machines differ with both values; of two systems of one run their settings", () => {
	const differences = (parts: Parameters<typeof baselineWith>[1]) =>
		comparingOf(a, run(1, parts)).differences;
	expect(differences({})).toEqual([]);
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
	const one = run(1, { systems: { old: { broker: "1" }, new: { broker: "2" } } });
	expect(comparingOf(one, one, { systems: ["old", "new"] }).differences).toEqual([
		{ what: "old, new: broker", a: "1", b: "2" },
	]);
});
