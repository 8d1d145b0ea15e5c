import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

import type { Figure } from "../chart/figure.ts";
import type { MetricSummary, Result, Run } from "../model/result.ts";

import { hostileResult as hostileOf, search as searchOf } from "../render/hostile.fake.ts";
import { percentile } from "../result/select.ts";
import { fixtureResult, publishedOnce } from "../result/stored.fake.ts";

/** For tests: results of every kind that a page is made of. */

export const FIXTURES = [
	"healthy",
	"stall",
	"lag",
	"lost",
	"repeats",
	"interrupted",
	"no-data",
	"failover",
	"clients",
] as const;

/** A name that breaks unescaped output: markup, quotes, table and template characters, newlines, emoji, 300 characters. */
export const HOSTILE = `</script><script>alert(1)</script><img src=x onerror="alert('2')">|\`**&amp;\n\u{1F4A5}\${x} ${"long-".repeat(45)}`;

export function scenarioOf(folder: string): string {
	return readFileSync(join(folder, "scenario.yaml"), "utf8");
}

/** A search for the highest rate: latency rises with it, and above 4000/s the SLA is breached. */
export function searchedResult(): Result {
	const healthy = fixtureResult("healthy");
	const first = healthy.runs[0] as Run;
	const rates = [500, 1000, 2000, 3000, 4000, 5000, 8000];
	const runs = rates.map((rate, index): Run => {
		const failed = rate > 4000;
		return {
			...first,
			metrics: { ...first.metrics, response: slower(first.metrics.response, 1 + rate / 1000) },
			index,
			folder: `runs/${index}-search`,
			verdict: failed ? "fail" : "pass",
			search: { role: failed ? "probe" : "curve", of: first.case },
			load: {
				...first.load,
				schedule: { ...first.load.schedule, rate: { messages: rate, perNs: 1e9 } },
			},
		};
	});
	const search = searchOf({
		system: first.system,
		case: first.case,
		sla: ["p99 < 10ms"],
		lo: 4000,
		hi: 5000,
		answer: "4 000/s meets the SLA, confirmed by another run; 5 000/s does not",
		runs: rates.map((rate, index) => ({
			index,
			role: rate === 4000 ? "confirm" : rate > 4000 ? "probe" : "curve",
			rate,
			verdict: rate > 4000 ? "fail" : "pass",
			why: null,
			p50: percentile(runs[index] as Run, "response", 50).value,
			p99: percentile(runs[index] as Run, "response", 99).value,
			max: runs[index]?.metrics.response?.max ?? null,
		})),
	});
	return { ...healthy, gates: [], runs, searches: [search] };
}

function slower(m: MetricSummary | null, by: number): MetricSummary | null {
	const longer = (ns: number | null) => ns && ns * by;
	const percentiles = m?.percentiles.map(({ value, low, high, ...p }) => ({
		...p,
		value: longer(value),
		low: longer(low),
		high: longer(high),
	}));
	return m && { ...m, max: longer(m.max), percentiles: percentiles ?? [] };
}

/** `count` runs of 5 systems, each with a fifth of the cases. */
export function manyResult(count: number): Result {
	const result = publishedOnce("message-queue-latency");
	const runs = Array.from({ length: count }, (_, index): Run => {
		const run = result.runs[index % result.runs.length] as Run;
		const round = Math.floor(index / result.runs.length);
		return {
			...run,
			index,
			folder: `${run.folder}-${index}`,
			case: round === 0 ? run.case : `${run.case}, ${round}`,
		};
	});
	return { ...result, runs };
}

export function hostileResult(): Result {
	const result = hostileOf(HOSTILE, "stall");
	const [run] = result.runs as [Run];
	const first = { ...run, brokerUrl: HOSTILE, brokerSettings: { [HOSTILE]: HOSTILE } };
	const second = { ...run, index: run.index + 1, folder: `runs/${HOSTILE}`, case: `${HOSTILE}2` };
	return { ...result, runs: [first, second] };
}

/** The text that a reader sees without JavaScript. */
export function wordsOf(html: string): string {
	return html.replaceAll(/<script[\s\S]*?<\/script>/g, "");
}

/** The data of the charts, as the browser reads them. */
export function figuresIn(html: string): Figure[] {
	const packed = /data-packed="figures">([^<]*)</.exec(html)?.[1] ?? "";
	return JSON.parse(gunzipSync(Buffer.from(packed, "base64")).toString());
}
