import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { editJson } from "../../evidence/fixture.fake.ts";
import type { Baseline } from "../../model/comparison.ts";
import {
	flat,
	measured,
	measuring,
	resultOf,
	run,
	signal,
	started,
	temporaryFolder,
} from "./mqbench.ts";

/** The gate as a build meets it: what runs, which exit code, and what is said. Short runs on nats-server. */

const brief = { rate: "1000/s", duration: "300ms" };

describe("a limit", () => {
	test("that is breached: 99; --confirm makes two more repeats and says so, and a Ctrl-C among them can be resumed", async () => {
		const {
			file,
			results: out,
			mqbench: first,
		} = started(brief, { sla: "[service p50 < 1ns]" }, { args: ["--confirm"] });
		await first.says(/^\[2\/3\] /m);
		expect(first.err()).toContain(
			"service p50 < 1ns (nats, 256B 1000/s) is FAIL after 1 run: 2 confirming repeats.",
		);
		first.signal("SIGINT");
		expect((await first.ended).code).toBe(130);

		const second = await run([file, "--resume", out, "--confirm"]);
		expect(second.err).toContain("1 of 3 runs are complete and kept.");
		expect(second.code).toBe(99);
		const { runs, gates } = resultOf(out);
		expect(runs.map((r) => [r.repeat, r.confirms, r.state])).toEqual([
			[1, false, "complete"],
			[2, true, "complete"],
			[3, true, "complete"],
		]);
		expect(gates[0]?.why).toMatch(/^3 FAIL of 3 repeats \(2 of them confirming\); /);
		expect(flat(second.out)).toContain("3 FAIL of 3 repeats (2 of them confirming)");
	});

	test("that only a generator which stood still has breached: 4", async () => {
		const top = { sla: "[p90 < 300ms]" };
		const made = await measuring({ duration: "5s" }, top, { args: ["--confirm"] });
		signal(made.children, "k6", "SIGSTOP");
		await new Promise((resolve) => setTimeout(resolve, 2000));
		signal(made.children, "k6", "SIGCONT");
		expect((await made.mqbench.ended).code).toBe(4);
		// And is not confirmed: a measurement that is not to be trusted decides nothing.
		expect(made.result).toMatchObject({ verdict: "invalid" });
		expect(made.result.runs).toHaveLength(1);
	});
});

test("a comparison: without a baseline 2; against a committed one 99 where it is slower, and as it is where it is the same; of another machine 0", {
	tags: "long",
}, async () => {
	const folder = temporaryFolder();
	const top = {
		repeat: "4",
		sla: "[p50 < 10s, p50 <= baseline + 50%, achieved >= baseline - 50%]",
	};
	const none = await measured(brief, top, { exit: [2] });
	expect(none.err).toContain("--baseline none");

	const first = await measured(brief, top, { args: ["--baseline", "none"] });
	expect(first.err).toContain(
		"Warning: --baseline none: not judged are p50 <= baseline + 50%, achieved >= baseline - 50%",
	);
	expect(first.result.comparisons).toEqual([]);

	// As if the broker had taken 10 ns then: slower than that it is on the busiest machine. The rate was what it is.
	const committed = path.join(folder, "committed.json");
	const baseline: Baseline = JSON.parse(
		readFileSync(path.join(first.results, "baseline.json"), "utf8"),
	);
	for (const { figures } of baseline.runs) {
		expect(figures["response p50"]).toBeGreaterThan(1000);
		figures["response p50"] = 10;
	}
	writeFileSync(committed, JSON.stringify(baseline));

	const args = ["--baseline", committed, "--confirm"];
	const second = await measured(brief, top, { args, exit: [99] });
	const after = second.results;
	expect(second.err).toContain(
		"p50 <= baseline + 50% (nats, 256B 1000/s) is FAIL after 4 repeats: 2 confirming repeats.",
	);
	const { result } = second;
	expect(result.runs).toHaveLength(6);
	expect(result.gates.map((g) => [g.sla, g.verdict])).toEqual([
		["p50 < 10s", "pass"],
		["p50 <= baseline + 50%", "fail"],
		["achieved >= baseline - 50%", "pass"],
	]);
	const [, slower, same] = result.gates;
	expect(slower?.comparison).toMatchObject({
		verdict: "regressed",
		judged: true,
		a: { runs: 4 },
		b: { runs: 6 },
	});
	expect(slower?.comparison?.a.name).toMatch(
		/^the baseline of \d{4}-\d\d-\d\d \(committed\.json\)$/,
	);
	expect(result.runs.filter(({ confirms }) => confirms)).toHaveLength(2);
	expect(same?.comparison?.verdict).toBe("same");

	// Recomputed from its folder, where the committed file is no more.
	writeFileSync(committed, "");
	const again = await run(["report", after]);
	expect(again.code).toBe(99);
	expect(resultOf(after)).toEqual(result);

	editJson(path.join(after, "against.json"), (against) => {
		against.baseline.machine.fingerprint = "another";
		against.baseline.machine.cpu = "Another CPU";
	});
	expect((await run(["report", after])).code).toBe(0);
	expect(resultOf(after)).toMatchObject({ verdict: "inconclusive", openBaselineOnly: true });
	const strict = ["report", after, "--on-inconclusive", "fail"];
	expect((await run(strict)).code).toBe(6);
});
