import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildResult } from "../compare/build.ts";
import { measuredText } from "../document/words.ts";
import { figuresOf, listOf } from "../figures/figures.ts";
import type { RigMachines } from "../model/environment-file.ts";
import type { Result, Run } from "../model/result.ts";
import { renderHtml, renderMarkdown, terminalOf as terminal } from "../render/rendered.fake.ts";
import { editJson, firstRun, fixtureCopy } from "../run/fixture.fake.ts";
import { adviceText } from "./breach-advice.ts";
import { brokenOf } from "./outcomes.ts";
import { fixtureResult } from "./stored.fake.ts";
import { gateMargin, systemText, verdictText } from "./words.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests change any field of a plan.
const planned = (name: string, edit: (plan: any) => void) => {
	const copy = fixtureCopy(name);
	editJson(join(firstRun(copy), "plan.json"), edit);
	return buildResult(copy);
};

describe("what a verdict means", () => {
	test("without any SLA nothing was judged, and nobody says that every SLA is met", () => {
		const result = planned("healthy", (plan) => {
			plan.sla = [];
		});
		expect(result.verdict).toBe("pass");
		for (const text of [terminal(result), renderMarkdown(result), renderHtml(result)]) {
			expect(text).toMatch(/no SLA: nothing was judged/i);
			expect(text).not.toContain("every SLA is met");
		}
	});

	test("a strict run that was finished does not say that it could not be", () => {
		const result = planned("healthy", (plan) => {
			plan.strict = true;
			plan.sla[0].percentile = 99.99;
		});
		expect(result.errorCause).toBe("scenario");
		expect(verdictText(result)).toContain("the scenario asks for");
		expect(terminal(result)).not.toContain("could not be made or finished");
	});

	test("INVALID says how many lines it is about, and that another is breached nevertheless", () => {
		const lag = (edit: (gates: Result["gates"]) => Result["gates"]) => {
			const result = fixtureResult("lag");
			return verdictText({ ...result, gates: edit([...result.gates]) });
		};
		expect(lag((gates) => gates)).toBe(
			"1 of 2 SLA lines cannot be judged, because the measurement of them cannot be trusted",
		);
		expect(
			lag((gates) => gates.map((g) => (g.verdict === "pass" ? { ...g, verdict: "fail" } : g))),
		).toMatch(/; breached all the same: lost == 0$/);
		expect(lag((gates) => gates.slice(0, 1))).toContain("it says nothing about the system");
	});

	test("INVALID of another run than that of the lines names that run, and why", () => {
		const result = fixtureResult("lag");
		const [gate] = result.gates.filter((g) => g.verdict === "pass");
		const [run] = result.runs;
		if (!gate || !run) throw new Error("another fixture");
		const why = "40 messages were not offered";
		const other: Run = { ...run, case: "warm", verdict: "invalid", why };
		expect(verdictText({ ...result, gates: [gate], runs: [run, other] })).toBe(
			`${run.system}, warm is INVALID: ${why}`,
		);
		const failed: Result["gates"][number] = { ...gate, verdict: "fail" };
		expect(verdictText({ ...result, gates: [failed], runs: [other, other] })).toBe(
			`${run.system}, warm and 1 other run are INVALID: ${why}; breached all the same: ${gate.sla}`,
		);
	});

	test("messages that no SLA line counts are the cause, not the samples", () => {
		const result = planned("no-data", (plan) => {
			plan.sla = plan.sla.filter((s: { kind: string }) => s.kind === "tally");
		});
		expect(verdictText(result)).toContain("no SLA line counts them");
		const [broken] = brokenOf(result);
		if (!broken) throw new Error("it passed");
		expect(adviceText(broken, result)).toMatch(/^add \w+ == 0.* to the SLA, and measure again/);
	});
});

test("margins of repeats on both sides of 1.0x are words and factors, never a bare 1x", () => {
	const [gate] = fixtureResult("stall").gates;
	const margins = (...all: number[]) =>
		gateMargin({
			...gate,
			repeats: all.map((margin) => ({ ...gate?.repeats[0], margin })),
		} as Result["gates"][number]);
	expect(margins(1.01, 1.2)).toBe("just below the limit to 1.2x below the limit");
	expect(margins(6.3, 6.5)).toBe("6.3x to 6.5x below the limit");
});

test("a command with --quick says beside the verdict that it gives no result", () => {
	const result = planned("healthy", (plan) => {
		plan.quick = true;
	});
	expect(result.quick).toBe(true);
	const html = renderHtml(result);
	for (const text of [terminal(result), renderMarkdown(result), html]) {
		expect(text).toContain("PASS (shortened: no result)");
		expect(text).toMatch(/shortened by --quick/i);
	}
	// Charts are shown without their report.
	const figures = listOf(figuresOf(result));
	expect(figures.length).toBeGreaterThan(0);
	for (const { facts } of figures) expect(facts).toContain("shortened");
	expect(fixtureResult("healthy").quick).toBe(false);
});

test("a percentile too deep for the samples that fails all the same shows its count", () => {
	const result = planned("stall", (plan) => {
		plan.sla = [{ ...plan.sla[0], percentile: 99.99, text: "p99.99 < 10ms" }];
	});
	expect(result.gates[0]).toMatchObject({ verdict: "fail", measured: "490 of 10 000 over 10ms" });
});

test("of more errors than are shown the number is said", () => {
	const result = fixtureResult("healthy");
	for (const run of result.runs)
		run.errors = Array.from({ length: 5 }, (_, i) => ({
			message: `error ${i}`,
			count: 1,
			firstNs: null,
		}));
	expect(terminal(result)).toContain("and 2 more errors: see report.html");
});

test("a system without a version says which broker it is", () => {
	const [run] = fixtureResult("healthy").runs;
	if (!run?.versions) throw new Error("another fixture");
	run.versions.server = "";
	run.brokerVersion = null;
	expect(systemText(run)).toMatch(/^nats, version unknown; durability: /);
});

test("no two tiles of a run have the same name", () => {
	const html = renderHtml(fixtureResult("healthy"));
	const run = html.slice(html.indexOf('id="run-1"'));
	const names = [...run.matchAll(/<dt>([^<]+)<\/dt>/g)].map((m) => m[1]);
	expect(names.length).toBeGreaterThan(10);
	expect(new Set(names).size).toBe(names.length);
});

describe("machines of a rig", () => {
	const shown = (rig: Partial<RigMachines>) => {
		const copy = fixtureCopy("healthy");
		const whole: RigMachines = {
			id: "x-1",
			createdAt: "2026-01-02T03:04:05.000Z",
			here: false,
			cloud: "aws eu-central-1",
			brokers: ["b1"],
			clients: ["c1"],
			machines: "1 i4i.xlarge for brokers (aws eu-central-1)",
			facts: { zone: "eu-central-1a", rack: "7" },
			...rig,
		};
		editJson(join(copy, "environment.json"), (file) => Object.assign(file, { rig: whole }));
		const result = buildResult(copy);
		return {
			words: measuredText(result),
			// Without tags.
			page: renderHtml(result).replaceAll(/<[^>]+>/g, " "),
		};
	};

	test("that are rented stand where the machine stands, with what tells one stand from another", () => {
		const { words, page } = shown({});
		expect(words).toMatch(
			/^Measured on 1 i4i\.xlarge for brokers \(aws eu-central-1\), started from /,
		);
		expect(page).toMatch(
			/rented machines\s+1 i4i\.xlarge for brokers \(aws eu-central-1\), rig x-1 of 2026-01-02T03:04:05\.000Z; mqbench itself ran on what follows/,
		);
		expect(page).toMatch(/rented: zone\s+eu-central-1a/);
		expect(/: rack/.test(page)).toBe(false);
	});

	test("that are yours by their names, and where the load comes from", () => {
		const { words, page } = shown({
			cloud: null,
			createdAt: null,
			here: true,
			clients: [],
			machines: "host b1 for brokers",
		});
		expect(words).toMatch(/^Measured on host b1 for brokers, with the load from /);
		expect(page).toMatch(
			/hosts\s+host b1 for brokers, rig x-1; mqbench itself and the load ran on what follows/,
		);
		expect(page).toMatch(/rig: rack\s+7/);
	});
});
