import { describe, expect, test } from "vitest";
import type { Run } from "../../model/result.ts";
import { HOSTILE } from "../../page/pages.fake.ts";
import { resultOf } from "../../result/indexed.fake.ts";
import { fixtureResult, publishedFolder } from "../../result/stored.fake.ts";
import { exported, exportedResults, PUBLISHED, publishedJson } from "./exported.fake.ts";

interface Sample {
	readonly labels: Readonly<Record<string, string>>;
	readonly value: number;
	readonly time: number | null;
}
interface Family {
	readonly name: string;
	readonly unit: string;
	readonly help: string;
	readonly samples: Sample[];
}

const ABOUT = /^# (TYPE|UNIT|HELP) ([a-zA-Z_:][\w:]*) (.+)$/;
const SAMPLE =
	/^([a-zA-Z_:][\w:]*)\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*)\} (-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?: (\d+(?:\.\d+)?))?$/;

/** OpenMetrics 1.0 as its ABNF has it, and its rules about families; sharing nothing with what writes it. */
function parse(text: string): Family[] {
	expect(text.endsWith("\n# EOF\n")).toBe(true);
	const families: Family[] = [];
	for (const line of text.slice(0, -"# EOF\n".length).trimEnd().split("\n")) {
		const [, what = "", about = "", value = ""] = ABOUT.exec(line) ?? [];
		if (what !== "") {
			let last = families.at(-1);
			if (last?.name !== about) {
				expect(
					families.some((f) => f.name === about),
					`${about} is in two pieces`,
				).toBe(false);
				last = { name: about, unit: "", help: "", samples: [] };
				families.push(last);
			}
			expect(last.samples, line).toEqual([]);
			if (what === "TYPE") expect(value).toBe("gauge");
			if (what === "UNIT") expect(about.endsWith(`_${value}`), line).toBe(true);
			Object.assign(last, { [what.toLowerCase()]: value });
			continue;
		}
		const [, name, labels = "", number, time] = SAMPLE.exec(line) ?? [];
		const family = families.at(-1);
		expect(name, line).toBe(family?.name);
		const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, quoted = ""]) => [
			key,
			quoted.replaceAll(/\\(.)/g, (_, c) => (c === "n" ? "\n" : c)),
		]);
		const own = Object.fromEntries(pairs);
		expect(Object.keys(own), line).toHaveLength(pairs.length);
		const same = (one: Sample) => JSON.stringify(one.labels) === JSON.stringify(own);
		// A metric's samples stand together.
		const before = family?.samples.findLast(same);
		if (before !== undefined) {
			expect(family?.samples.at(-1), line).toBe(before);
			expect(before.time ?? 0, line).toBeLessThan(Number(time));
		}
		const at = time === undefined ? null : Number(time);
		family?.samples.push({ labels: own, value: Number(number), time: at });
	}
	return families;
}

const known = new Map<string, Family[]>();

/** Each text is read once. */
function parsed(text: string): Family[] {
	const families = known.get(text) ?? parse(text);
	known.set(text, families);
	return families;
}

const samplesOf = (text: string, name: string) =>
	parsed(text).find((f) => f.name === name)?.samples ?? [];

describe.each(PUBLISHED)("openmetrics of %s", (name) => {
	const { files, code } = exported("openmetrics", [publishedFolder(name)]);
	const text = files["metrics.txt"] ?? "";
	const result = publishedJson(name);

	test("is one file, whose families have a type, a unit in their name and a help", () => {
		expect(code).toBe(0);
		expect(Object.keys(files)).toEqual(["metrics.txt"]);
		for (const { help, samples } of parsed(text)) {
			expect(help).toMatch(/\.$/);
			expect(samples.length).toBeGreaterThan(0);
		}
		expect(parsed(text).map(({ name, unit }) => `${name} ${unit}`)).toEqual([
			"mqbench_latency_seconds seconds",
			"mqbench_latency_low_seconds seconds",
			"mqbench_latency_high_seconds seconds",
			"mqbench_rate_messages_per_second messages_per_second",
			...(result.runs.some((run: Run) => run.failover.length > 0)
				? ["mqbench_time_seconds seconds"]
				: []),
			"mqbench_message_seconds seconds",
			...(result.runs.some(({ cost }: Run) => cost?.diskPerMessageBytes != null)
				? ["mqbench_message_bytes bytes"]
				: []),
			"mqbench_window_messages messages",
			"mqbench_sla_met ",
		]);
	});

	test("has every percentile and interval that result.json has, to the nanosecond, and marks the weak ones", () => {
		const found = (family: string) =>
			samplesOf(text, family).map(({ labels, value }) => [
				labels.system,
				labels.case,
				labels.metric,
				labels.statistic,
				labels.support ?? "ok",
				Math.round(value * 1e9),
			]);
		const expected = (of: "value" | "low" | "high") =>
			// biome-ignore lint/suspicious/noExplicitAny: as it is written.
			result.runs.flatMap((run: any) =>
				Object.entries(run.metrics).flatMap(([metric, m]) => {
					// biome-ignore lint/suspicious/noExplicitAny: as it is written.
					const { percentiles, max } = (m ?? { percentiles: [] }) as any;
					const line = (p: string, support: string, ns: number | null) =>
						ns === null ? [] : [[run.system, run.case, metric, p, support, Math.round(ns)]];
					return [
						// biome-ignore lint/suspicious/noExplicitAny: as it is written.
						...percentiles.flatMap((p: any) => line(`p${p.p}`, p.support, p[of])),
						...(of === "value" ? line("max", "ok", max ?? null) : []),
					];
				}),
			);
		const sorted = (rows: unknown[]) => rows.map((row) => JSON.stringify(row)).sort();
		for (const [family, of] of [
			["mqbench_latency_seconds", "value"],
			["mqbench_latency_low_seconds", "low"],
			["mqbench_latency_high_seconds", "high"],
		] as const)
			expect(sorted(found(family))).toEqual(sorted(expected(of)));
	});

	test("has no times and names no run: the same series goes on with the next report", () => {
		for (const { samples } of parsed(text))
			for (const { labels, time } of samples) {
				expect(time).toBeNull();
				expect(Object.values(labels).join()).not.toContain(result.runId);
			}
	});
});

const day = (n: number) => `2026-01-0${n}T12:00:00.250Z`;

test("of several reports a series has a sample for each, the oldest first, with the time of its run", () => {
	const { files } = exportedResults(
		"openmetrics",
		resultOf("healthy", { startedAt: day(3) }),
		resultOf("healthy", { startedAt: day(1) }),
		resultOf("stall", { startedAt: day(2) }),
	);
	const p99 = samplesOf(files["metrics.txt"] ?? "", "mqbench_latency_seconds")
		.filter(({ labels }) => labels.metric === "response")
		.filter(({ labels }) => labels.statistic === "p99");
	expect(p99.map(({ labels, time }) => [labels.scenario, time])).toEqual([
		["healthy", Date.parse(day(1)) / 1000],
		["healthy", Date.parse(day(3)) / 1000],
		["stall", Date.parse(day(2)) / 1000],
	]);
});

test("a percentile among messages that never completed is the timeout, and says so", () => {
	const lost = fixtureResult("lost");
	const [run] = lost.runs;
	const { files } = exportedResults("openmetrics", {
		...lost,
		runs: lost.runs.map((r) => ({ ...r, verdict: "fail" as const })),
	});
	const beyond = samplesOf(files["metrics.txt"] ?? "", "mqbench_latency_seconds").filter(
		({ labels }) => labels.support === "at-least",
	);
	expect(beyond.map(({ labels }) => labels.statistic)).toContain("p99.9");
	for (const { value } of beyond)
		expect(value * 1e9).toBeGreaterThanOrEqual(run?.load.timeoutNs ?? 0);
});

test("names from outside come back as they were", () => {
	for (const scenario of [HOSTILE, 'a"b\\n\\\\', "two\nlines"]) {
		const { files } = exportedResults("openmetrics", resultOf("healthy", { scenario }));
		const [sample] = samplesOf(files["metrics.txt"] ?? "", "mqbench_sla_met");
		expect(sample?.labels.scenario).toBe(scenario);
	}
});
