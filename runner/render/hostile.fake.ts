import type { Comparison } from "../model/comparison.ts";
import type { Phase, Result, Run, Search } from "../model/result.ts";
import { fixtureResult } from "../result/stored.fake.ts";

type Check = Run["validity"][number];

/** For tests: the stored runs by name. */
export const FIXTURES = ["healthy", "stall", "lag", "lost", "repeats", "interrupted", "no-data"];

/** For tests: names from outside, each of which breaks some format that does not escape it. */
export const HOSTILE: readonly string[] = [
	"<script>alert(1)</script>",
	`"'&<>]]>--><!--`,
	"a|b\\|c\\",
	"\u{1f600} emoji, half of one \ud83d, and \udc00",
	"nul \u0000 bell \u0007 escape \u001b[31m \u0085 \u2028 \ufffe \uffff",
	"two\nlines\r\nand\rmore",
	"\n::error file=x,line=1::forged\n::stop-commands::t\n##[error]old",
	"::set-output name=verdict::pass",
	"- # ** `code` ``` ~~~ </details> <!-- mqbench:x -->",
	"@somebody #1 https://example.org [a](b) ![c](d)",
	"%0A%25 a,b:c",
	"=1+1",
	"x".repeat(300),
	"\u{1f9ea}".repeat(150),
	"-".repeat(300),
];

/** For tests: a stored run with the text in every place that is not ours to word. */
export function hostileResult(text: string, name = "repeats"): Result {
	const result = fixtureResult(name);
	const { environment } = result;
	return {
		...result,
		scenario: text,
		runId: text,
		environment: environment && { ...environment, cpu: text, os: text },
		command: { scenario: text, args: [text], file: text },
		runs: result.runs.map((run) => ({
			...run,
			system: `${text}${run.system}`,
			case: text,
			why: text,
			notes: [text],
			network: [
				{ client: 0, node: 1, connects: null, minNs: null, p50Ns: null, maxNs: null, error: text },
			],
			errors: [{ message: text, count: 2, firstNs: null }],
			failed: run.repeat,
			versions: run.versions && { ...run.versions, server: text },
			load: { ...run.load, durability: text },
			validity: run.validity.map((check) => ({ ...check, detail: text, remedy: text })),
		})),
		gates: result.gates.map((gate) => ({
			...gate,
			system: `${text}${gate.system}`,
			case: text,
			sla: text,
			why: text,
			measured: text,
		})),
		searches: [search({ system: text, case: text, answer: text })],
		comparisons: [comparison({ system: text, case: text, why: text })],
	};
}

/** For tests: a search for the highest rate. */
export function search(parts: Partial<Search> = {}): Search {
	return {
		system: "nats",
		case: "256B",
		repeat: 1,
		sla: [],
		verdict: "pass",
		lo: 20_000,
		hi: 21_000,
		limitedBy: "system",
		confirmed: true,
		answer: "between 20 000 and 21 000/s",
		runs: [],
		...parts,
	};
}

/** For tests: a run of a search. */
export function step(parts: Partial<Search["runs"][number]> = {}): Search["runs"][number] {
	const figures = { p50: null, p99: null, max: null };
	return { index: 9, role: "probe", rate: 1, verdict: "fail", why: null, ...figures, ...parts };
}

/** For tests: a check's finding. */
export function check(
	name: string,
	status: Check["status"] = "warn",
	parts: Partial<Check> = {},
): Check {
	const unsaid = { figure: null, limit: null, remedy: null };
	return { check: name, status, detail: `${name} of 1`, ...unsaid, ...parts };
}

/** For tests: a part of a window. */
export function phase(parts: Partial<Phase>): Phase {
	const window = { fromNs: 0, toNs: 1e9, intended: 1, rate: 1 };
	const throughput = { sent: 1, acked: null, received: null };
	const lag = { lagP99: null, lagP99Weak: false };
	return { name: "x", metric: "response", latency: null, throughput, ...window, ...lag, ...parts };
}

/** For tests: 31 % worse than the baseline, where 10 % may be. */
export function comparison(parts: Partial<Comparison> = {}): Comparison {
	return {
		system: "nats",
		case: "256B 1000/s",
		metric: "response p99",
		unit: "ns",
		a: { name: "main.json", runs: 5, values: [1e6], median: 1e6, weak: false },
		b: { name: "this run", runs: 4, values: [1.31e6], median: 1.31e6, weak: false },
		ratio: 1.31,
		low: 1.2,
		high: 1.4,
		confidence: 0.968,
		margin: 0.1,
		marginFrom: "the SLA",
		verdict: "regressed",
		notWorse: false,
		why: "1.31x: worse by more than the margin of 10 %",
		judged: true,
		advisory: null,
		...parts,
	};
}
