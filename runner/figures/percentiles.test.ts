import { describe, expect, test } from "vitest";
import type { Result, Run } from "../model/result.ts";
import { FIXTURES } from "../page/pages.fake.ts";
import { mostHidden } from "../result/omission.ts";
import { percentileAmount } from "../result/select.ts";
import { show, showInterval } from "../result/show.ts";
import { fixtureResult, publishedOnce } from "../result/stored.fake.ts";
import { formatDuration } from "../units.ts";
import { subjectOf } from "./facts.ts";
import { overviewPercentiles, runPercentiles } from "./percentiles.ts";

const results = [
	...FIXTURES.map((name) => [name, fixtureResult(name)] as const),
	...["nats-stall", "message-queue-latency"].map((name) => [name, publishedOnce(name)] as const),
];

/** The curves of a run, each with its metric: the first word of its name. */
const curvesOf = (run: Run, result: Result, points = 300) =>
	(runPercentiles(subjectOf(run, result), points)?.panels[0]?.series ?? []).flatMap((curve) => {
		const m = run.metrics[curve.name.split(/:| /)[0] as keyof Run["metrics"]];
		return curve.draw === "line" && m != null ? [{ run, curve, m }] : [];
	});

describe.each(results)("curves of %s", (_, result) => {
	const curves = result.runs.flatMap((run) => curvesOf(run, result));

	test("have at every percentile with a name the value, text and interval of result.json", () => {
		for (const { run, curve, m } of curves) {
			expect(
				curve.data.flatMap(({ x, y, text, low = null, high = null }) =>
					text === undefined ? [] : [[x, y, text, low, high]],
				),
			).toEqual(
				m.percentiles
					.filter((p) => p.value !== null)
					.map((p) => [
						p.p,
						p.value,
						`${show(percentileAmount(p, run))} ${showInterval(p)}`.trim(),
						p.low,
						p.high,
					]),
			);
			expect(curve.end?.y ?? null).toBe(m.censored === 0 ? m.max : null);
		}
	});

	test("go through points of result.json only, the last one and all with a name among them", () => {
		for (const { curve, m } of curves) {
			const known = new Map([...m.curve, ...m.percentiles].map((c) => [c.p, c.value]));
			expect(curve.data.filter(({ x, y }) => y !== known.get(x))).toEqual([]);
			const last = m.percentiles.findLast((p) => p.value !== null)?.p ?? 0;
			expect(curve.data.at(-1)?.x).toBe(Math.max(m.curve.at(-1)?.p ?? 0, last));
		}
	});

	test("keep every value in fewer points that is not within a part of another", () => {
		for (const { run, curve } of curves) {
			const coarse = curvesOf(run, result, 30).find(
				(other) => other.curve.name === curve.name,
			)?.curve;
			const at = (x: number) => coarse?.data.findLast((datum) => datum.x <= x)?.y ?? 0;
			for (const { x, y } of curve.data) expect(Math.abs((y ?? 0) / at(x) - 1)).toBeLessThan(0.021);
		}
	});
});

test("what coordinated omission hides is the area between both curves, and has a name with both values", () => {
	const result = publishedOnce("nats-stall");
	const run = result.runs[0] as Run;
	const hidden = run.omission?.percentiles.find(({ p }) => p === mostHidden(run));
	if (hidden === undefined) throw new Error("nothing is hidden");
	const figure = runPercentiles(subjectOf(run, result), 300);
	const name = `hidden by coordinated omission: p99 ~${formatDuration(hidden.response ?? 0)} instead of ${formatDuration(hidden.service ?? 0)}`;
	expect(figure?.facts).toContain(name);
	const [response, service, area] = figure?.panels[0]?.series ?? [];
	expect(area).toMatchObject({ name, draw: "band", group: response?.group });
	expect(area?.data.at(-1)?.x).toBeGreaterThan(99);
	for (const curve of [response, service])
		for (const { x, y } of curve?.data ?? [])
			for (const { low, high } of area?.data.filter((datum) => datum.x === x).slice(-1) ?? [])
				expect([low, high]).toContain(y);
});

describe("side by side", () => {
	test("repeats of one system share its switch, colour and dashes; the one that decides is strong", () => {
		const result = fixtureResult("repeats");
		const curves = overviewPercentiles(result, 300)?.panels[0]?.series ?? [];
		for (const [place, system] of ["nats", "kafka"].entries()) {
			const own = curves.filter((c) => c.group === system);
			expect(own.map((c) => [c.color, c.dash])).toEqual(Array(3).fill([place, place]));
			// The median of three by p99, found a second way.
			const runs = result.runs.filter((run) => run.system === system);
			const p99 = (run: Run) =>
				run.metrics.response?.percentiles.find((x) => x.p === 99)?.value ?? 0;
			const [, middle] = runs.toSorted((a, b) => p99(a) - p99(b));
			expect(own.filter((c) => !c.thin).map((c) => c.name)).toEqual([
				`${system} (${middle?.repeat})`,
			]);
		}
	});

	test("each case has a panel, with all of its systems", () => {
		const result = publishedOnce("message-queue-latency");
		const panels = overviewPercentiles(result, 300)?.panels ?? [];
		const names = [...new Set(result.runs.map((run) => run.case))];
		expect(panels.map(({ title }) => title)).toEqual(names);
		for (const { title, series } of panels) {
			const own = result.runs.filter((r) => r.case === title);
			expect(series.map(({ group }) => group)).toEqual(own.map(({ system }) => system));
			expect(series.some(({ thin }) => thin)).toBe(false);
		}
	});
});
