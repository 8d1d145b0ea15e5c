import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { bucketOfRank } from "../../../histogram/distribution.ts";
import { mergeLines } from "../../../histogram/merge.ts";
import { rank } from "../../../histogram/percentiles.ts";
import { readLog } from "../../../histogram/random.fake.ts";
import type { Result } from "../../../model/result.ts";
import { measuring, signal } from "../../e2e/mqbench.ts";

/**
 * The signature test. At 1000/s for 10 s something stops for 500 ms: about 500 messages are due during that time, and their response times
 * are spread evenly between 0 and 500 ms. A tool that moves or loses intended times cannot show that.
 */
const STALL_MS = 500;
const RATE = 1000;
const WARMUP_S = 2;
const SECONDS = 10;

describe("half a second in which the broker is stopped", () => {
	test("is in the response of each message due meanwhile, and breaches the SLA", async () => {
		const run = await stalledAlone();
		const { result, quantile } = run;
		breached(run);
		const [gate] = result.gates;
		// One event, and those caused by other programs on the machine.
		expect(gate?.events).toBeGreaterThanOrEqual(1);
		evenlySpread(run);
		// In a stall of 500 ms, 1 % of 10 000 messages wait for more than 400 ms, 2.5 % for more than 250 ms.
		within("p99", quantile(99), 100, run);
		within("p97.5", quantile(97.5), 250, run);
		const [one] = result.runs;
		expect(one).toMatchObject({ received: 10_000, lost: 0, notOffered: 0 });
		tell("broker stopped", result, quantile);
	});

	test("is queued time when inFlight keeps messages from leaving: service alone hides it", async () => {
		const run = await stalledAlone({ inFlight: "10" });
		const { result, quantile } = run;
		breached(run);
		evenlySpread(run);
		within("p99", quantile(99), 100, run);
		const { service, queued, lag } = result.runs[0]?.metrics ?? {};
		// A closed loop of 10 would have shown 10 slow messages of 10 000.
		within("p99 of queued", at(queued, 99) / 1e6, 100, run);
		if (!run.disturbed) {
			expect(at(service, 99)).toBeLessThan(50e6);
			expect(at(lag, 99)).toBeLessThan(50e6);
		}
		tell("broker stopped, inFlight 10", result, quantile);
	});
});

test("half a second in which k6 is stopped is lag, and makes the measurement INVALID", async () => {
	const run = await stalled("k6");
	const { result, code, quantile } = run;
	expect(code).toBe(4);
	expect(result.verdict).toBe("invalid");
	expect(result.gates[0]?.verdict).toBe("invalid");
	within("p99 of lag", at(result.runs[0]?.metrics.lag, 99) / 1e6, 100, run);
	expect(result.runs[0]).toMatchObject({ received: 10_000, notOffered: 0 });
	tell("k6 stopped", result, quantile);
});

describe("25 random moments at which k6 is stopped are never a FAIL that the system has to answer for", () => {
	const loads = ["noop", "nats"].flatMap((system) =>
		[1000, 20_000, 100_000].map((rate) => [system, rate] as const),
	);
	test.each(loads)("%s at %d/s", async (system, rate) => {
		const load = { rate: `${rate}/s`, warmup: "1s", duration: "14s" };
		// At 100 000/s on two cores NATS misses 5 ms by itself: p99 was 7 and 8 ms without any stop.
		const made = await measuring(load, { system, sla: "[p99 < 20ms]" });
		for (let i = 0; i < 25; i++) {
			await sleep(Math.random() * 500);
			await freeze(made.children, "k6", 10 + Math.random() * 50);
		}
		const { code, err } = await made.mqbench.ended;
		const [gate] = made.result.gates;
		const cause = gate?.repeats[0]?.cause;
		process.stdout.write(
			`${system} ${rate}/s: ${gate?.verdict} by ${gate?.code}, cause ${cause}: ${gate?.why}\n`,
		);
		// The limit need not be broken, and a saturated machine is reported.
		expect([0, 4, 6, 99], err).toContain(code);
		expect([gate?.verdict, cause]).not.toEqual(["fail", null]);
	});
});

// --- internal ---

interface Stalled {
	readonly result: Result;
	readonly code: number | null;
	/** How long it was stopped, at least and at most, because both ends are only known to be between two readings of a clock. */
	readonly stall: { readonly leastMs: number; readonly mostMs: number };
	/** Other programs used the machine, by the run's own checks: they may have added to any latency. */
	readonly disturbed: boolean;
	/** Messages of the window with a response above `ms`. */
	over(ms: number): number;
	/** Response at a percentile, in ms. */
	quantile(p: number): number;
}

/** A broker's stall. If other programs used the machine, the run is right to report it: it is repeated, twice at most. */
async function stalledAlone(workload: Record<string, string> = {}): Promise<Stalled> {
	let run = await stalled("nats-server", workload);
	for (let again = 0; again < 2 && run.disturbed; again++) {
		process.stdout.write(`once more: ${run.result.gates[0]?.why}\n`);
		run = await stalled("nats-server", workload);
	}
	return run;
}

async function stalled(
	who: "nats-server" | "k6",
	workload: Record<string, string> = {},
): Promise<Stalled> {
	const made = await measuring(
		{ rate: `${RATE}/s`, warmup: `${WARMUP_S}s`, duration: `${SECONDS}s`, ...workload },
		{ sla: "[p99 < 20ms]" },
		{ at: WARMUP_S + 4 },
	);
	const stall = await freeze(made.children, who, STALL_MS);
	const { code } = await made.mqbench.ended;
	const { result } = made;
	const log = made.ofRun("client-0.hlog");
	const d = response(log);
	return {
		result,
		code,
		stall,
		disturbed: (result.runs[0]?.validity ?? []).some(
			({ check, status }) =>
				// If we stop k6 ourselves, lag shows nothing about other programs.
				(OTHERS.has(check) || (check === "lag" && who !== "k6")) &&
				(status === "warn" || status === "invalid"),
		),
		over: (ms) => d.count - (d.upTo[d.high.findLastIndex((high) => high <= ms * 1e6)] ?? 0),
		quantile: (p) => (d.high[bucketOfRank(d, rank(d.count, p))] ?? Number.NaN) / 1e6,
	};
}

function response(log: string) {
	const lines = readLog(readFileSync(log, "utf8"));
	const merged = mergeLines(lines, WARMUP_S * 1e9).get("response");
	if (!merged) throw new Error(`${log} has no response times`);
	return merged.whole;
}

async function freeze(
	children: Parameters<typeof signal>[0],
	who: string,
	ms: number,
): Promise<Stalled["stall"]> {
	const before = performance.now();
	signal(children, who, "SIGSTOP");
	const stopped = performance.now();
	await sleep(ms);
	const end = performance.now();
	signal(children, who, "SIGCONT");
	return { leastMs: end - stopped, mostMs: performance.now() - before };
}

/** If other programs delayed the generator, the run may be INVALID instead. */
function breached({ result, code, disturbed }: Stalled): void {
	const verdicts = disturbed ? ["fail", "invalid"] : ["fail"];
	expect(verdicts).toContain(result.gates[0]?.verdict);
	expect(disturbed ? [99, 4] : [99]).toContain(code);
}

/** Over x ms are those due in the first 500 - x ms of a stall of 500 ms: 1000/s x (0.5 s - x), and the catch-up after it. */
function evenlySpread({ over, stall, disturbed }: Stalled): void {
	for (const ms of [100, 200, 300, 400]) {
		const due = (stallMs: number) => (RATE * (stallMs - ms)) / 1000;
		const what = `messages over ${ms} ms`;
		// The signal takes a moment.
		expect(over(ms), what).toBeGreaterThan(due(stall.leastMs) * 0.9);
		if (!disturbed) expect(over(ms), what).toBeLessThan(due(stall.mostMs) + 40);
	}
}

/** A percentile that is `less` ms below the stall; more if other programs used the machine. */
function within(what: string, got: number, less: number, { stall, disturbed }: Stalled) {
	expect(got, what).toBeGreaterThan(stall.leastMs - less - 40);
	if (!disturbed) expect(got, what).toBeLessThan(stall.mostMs - less + 40);
}

/** Checks that show that other programs used the machine. */
const OTHERS = new Set(["others", "cores", "steal"]);

type Metric = Result["runs"][number]["metrics"]["lag"];

function at(metric: Metric | undefined, p: number): number {
	const found = metric?.percentiles.find((one) => one.p === p)?.value;
	if (found === undefined || found === null) throw new Error(`p${p} was not measured`);
	return found;
}

/** People read acceptance figures. */
function tell(what: string, result: Result, quantile: (p: number) => number) {
	const gate = result.gates[0];
	process.stdout.write(
		`${what}: p97.5 ${quantile(97.5).toFixed(0)} ms, p99 ${quantile(99).toFixed(0)} ms; ${gate?.verdict}: ${gate?.why}\n`,
	);
}
