import { describe, expect, test } from "vitest";
import { intervalRanks, rank } from "../histogram/percentiles.ts";
import { seeded } from "../histogram/random.fake.ts";
import { agreeing } from "./quantile.ts";
import { clustering, type Interval, testOver } from "./statistics.ts";

/**
 * How often the statistics are wrong, by simulation with fixed seeds: systems whose truth is known, stalls at random times,
 * their sizes geometric. What is asserted stands in reports/METHOD.md.
 */
const INTERVALS = 60;
const N = 10_000;
const RUNS = 1500;

interface Stall {
	readonly at: number;
	readonly size: number;
	/** How bad it is, uniform in 0..1: all of its messages are as slow. */
	readonly depth: number;
}

function stalls(expected: number, mean: number, random: () => number): Stall[] {
	return Array.from({ length: poisson(expected / mean, random) }, () => {
		let size = 1;
		while (mean > 1 && random() > 1 / mean) size++;
		return { at: Math.floor(random() * INTERVALS), size, depth: random() };
	});
}

function intervalsOf(over: readonly Stall[]): Interval[] {
	const counts = new Array<number>(INTERVALS).fill(0);
	for (const { at, size } of over) counts[at] = (counts[at] ?? 0) + size;
	return counts.map((o) => ({ n: N / INTERVALS, over: o }));
}

function poisson(mean: number, random: () => number): number {
	let k = 0;
	for (let p = random(); p > Math.exp(-mean); p *= random()) k++;
	return k;
}

describe("the 95 % interval of p99 holds the true p99", () => {
	const LIMITS = [0.4, 0.48, 0.5, 0.52, 0.6];

	/**
	 * 200 messages of 10 000 stall; those of depth above 1/2 are above the true p99. `cut`: of the corrected interval, by the limit with
	 * whose gate it agrees.
	 */
	function coverage(mean: number) {
		const random = seeded(21);
		let plain = 0;
		let corrected = 0;
		const cut = LIMITS.map(() => 0);
		for (let run = 0; run < RUNS; run++) {
			const all = stalls(200, mean, random).sort((a, b) => b.depth - a.depth);
			const depths = all.flatMap((s) => new Array<number>(s.size).fill(s.depth));
			const valueAt = (rank: number) => depths[N - rank] ?? 0;
			const size = (some: readonly Stall[]) => some.reduce((sum, s) => sum + s.size, 0);
			const trulyAbove = size(all.filter((s) => s.depth > 0.5));
			// The messages above the measured p99: the deepest stalls, up to 100 messages.
			let left = 100;
			const measured = all.flatMap((s) => {
				const part = Math.min(left, s.size);
				left -= part;
				return part > 0 ? [{ ...s, size: part }] : [];
			});
			const ranks = intervalRanks(N, 99, clustering(intervalsOf(measured)));
			const holds = ({ low, high }: typeof ranks) =>
				trulyAbove <= N - low && (high === null || trulyAbove > N - high);
			if (holds(intervalRanks(N, 99, 1))) plain++;
			if (holds(ranks)) corrected++;
			const { low, high } = ranks;
			for (const [i, limit] of LIMITS.entries()) {
				const agreed = agreeing(
					{
						value: valueAt(rank(N, 99)),
						low: valueAt(low),
						high: high === null ? null : valueAt(high),
					},
					limit,
					testOver(intervalsOf(all.filter((s) => s.depth > limit)), 99).verdict,
				);
				if ((agreed.low ?? 0) <= 0.5 && (agreed.high ?? 1) >= 0.5) cut[i] = (cut[i] ?? 0) + 1;
			}
		}
		return { plain: plain / RUNS, corrected: corrected / RUNS, cut: cut.map((n) => n / RUNS) };
	}

	test.each([
		["single slow messages", 1, 0.95, 0.96],
		["stalls of 5", 5, 0.48, 0.94],
		["stalls of 20", 20, 0.24, 0.87],
	])(
		"%s (%d): without correction in a share of %d, with it in 95 to 97 %; cut to agree with a gate, in %d at least, wherever the limit is",
		(_, mean, share, least) => {
			const { plain, corrected, cut } = coverage(mean);
			expect(Math.abs(plain - share)).toBeLessThan(0.03);
			expect(corrected).toBeGreaterThan(0.94);
			expect(corrected).toBeLessThan(0.98);
			// The worst is a limit just below p99: a false PASS cuts p99 off.
			expect(Math.min(...cut)).toBeGreaterThanOrEqual(least);
			expect(cut[LIMITS.indexOf(0.5)]).toBeGreaterThan(0.94);
		},
	);
});

describe("the verdict on p99, 100 messages expected over the limit for a system exactly at it", () => {
	/** `load`: how many are over the limit, as a part of what is allowed. */
	function verdicts(mean: number, load: number) {
		const random = seeded(22);
		const counts = { pass: 0, fail: 0, inconclusive: 0 };
		for (let run = 0; run < RUNS; run++) {
			const over = intervalsOf(stalls(100 * load, mean, random));
			counts[testOver(over, 99).verdict]++;
		}
		return {
			pass: counts.pass / RUNS,
			fail: counts.fail / RUNS,
			inconclusive: counts.inconclusive / RUNS,
		};
	}

	test.each([
		[1, 0.06, 0.06],
		[5, 0.06, 0.1],
		[20, 0.14, 0.12],
	])("at the limit, stalls of %d: false PASS at most %d, FAIL at most %d", (mean, pass, fail) => {
		const found = verdicts(mean, 1);
		expect(found.pass).toBeLessThan(pass);
		expect(found.fail).toBeLessThan(fail);
	});

	test.each([
		[1, 0.005],
		[5, 0.01],
		[20, 0.02],
	])("at half the limit, stalls of %d: false FAIL at most %d", (mean, fail) => {
		expect(verdicts(mean, 0.5).fail).toBeLessThan(fail);
	});

	test.each([
		[1, 0.99],
		[5, 0.9],
		[20, 0.8],
	])("at three times the limit, stalls of %d: FAIL in at least %d", (mean, fail) => {
		const found = verdicts(mean, 3);
		expect(found.fail).toBeGreaterThan(fail);
		expect(found.pass).toBeLessThan(0.001);
	});

	test("at a fifth of the limit, single messages, PASS nearly always", () => {
		expect(verdicts(1, 0.2).pass).toBeGreaterThan(0.99);
	});
});
