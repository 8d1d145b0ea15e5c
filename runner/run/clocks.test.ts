import { describe, expect, test } from "vitest";
import { utcBound } from "../../infra/machines/chrony.ts";
import { type Probe, reading } from "../../infra/machines/clock.ts";
import type { ClockReading } from "../../infra/rig.ts";
import { seeded } from "../histogram/random.fake.ts";
import { clockOffsetsOf, clocksOf } from "./clocks.ts";

const US = 1_000;
const MS = 1_000_000;

/** What a probe and chrony said before and after the run: [offset, bound, bound against UTC]. */
type Said = readonly [offsetNs: number, boundNs: number, utcBoundNs?: number | null];
const read = (said: Said | null): ClockReading | null =>
	said && { offsetNs: said[0], boundNs: said[1], utcBoundNs: said[2] ?? null };
const clients = (...all: [before: Said | null, after: Said | null][]) =>
	all.map(([before, after]) => ({ before: read(before), after: read(after) }));
const whole = (all: ReturnType<typeof clients>) => {
	const telling = clockOffsetsOf(all);
	return { ...telling, ...clocksOf(all) };
};

describe("by probes", () => {
	test("each is told T0 by its own offset; the bound is the larger of both readings, and what the clock has moved in between", () => {
		const found = whole(
			clients(
				[
					[1000.2, 200.1],
					[900, 300],
				],
				[
					[-5, 70.5],
					[5, 20],
				],
			),
		);
		expect(found).toMatchObject({ byChrony: false, note: null, offsetsNs: [1000, -5] });
		expect(found.clocks).toMatchObject([
			{ beforeNs: 1000, afterNs: 900, readNs: 1000, boundNs: 400 },
			{ beforeNs: -5, afterNs: 5, readNs: -5, boundNs: 81, source: "probes", probedNs: null },
		]);
	});

	test("what nobody could read after the run is not known, and our own clock has no bound", () => {
		const { clocks, offsetsNs } = whole(clients([[7, 9], null], [null, null]));
		expect(offsetsNs).toEqual([7, 0]);
		expect(clocks).toEqual([
			{ beforeNs: 7, afterNs: null, readNs: 7, boundNs: 9, source: "probes", probedNs: null },
			null,
		]);
	});
});

describe("by chrony", () => {
	const kept = (offset: number, probe: number, utc: number | null): Said => [
		offset * MS,
		probe * MS,
		utc === null ? null : utc * US,
	];

	test("all are told T0 by the offset of the one with the shortest round trip, and the bound is the larger of both of its readings", () => {
		const found = whole(
			clients([kept(3, 12, 80), kept(9, 14, 110)], [kept(5, 6, 90), kept(6, 7, 60)]),
		);
		expect(found).toMatchObject({ byChrony: true, note: null, offsetsNs: [5 * MS, 5 * MS] });
		expect(found.clocks).toMatchObject([
			{
				beforeNs: 5 * MS,
				afterNs: 9 * MS,
				boundNs: 110 * US,
				readNs: 3 * MS,
				// 14 ms, and 4 ms between the second reading and the given T0.
				source: "chrony",
				probedNs: 18 * MS,
			},
			{ beforeNs: 5 * MS, afterNs: 6 * MS, boundNs: 90 * US, readNs: 5 * MS, probedNs: 8 * MS },
		]);
	});

	test.each([
		["one of them has none", kept(0, 10, 80), kept(0, 10, null)],
		["one of them has our clock", kept(0, 10, 80), null],
		["it knows less than the probes", kept(0, 10, 9_000), kept(0, 5, 7_000)],
	])("not where %s", (_, one, other) => {
		const found = whole(clients([one, one], [other, other]));
		expect(found).toMatchObject({ byChrony: false, note: null });
		for (const clock of found.clocks) if (clock !== null) expect(clock.source).toBe("probes");
	});

	test("not of a single client, whose clock only the probes compare with ours", () => {
		expect(whole(clients([kept(0, 10, 80), kept(0, 10, 80)])).clocks[0]).toMatchObject({
			source: "probes",
			boundNs: 10 * MS,
		});
	});

	test("it is not believed where the probes show before the run that it is wrong, and that is said", () => {
		const found = whole(
			clients([kept(0, 10, 80), kept(0, 10, 80)], [kept(25, 2, 80), kept(25, 2, 80)]),
		);
		expect(found).toMatchObject({
			byChrony: false,
			offsetsNs: [0, 25 * MS],
			note: expect.stringContaining("chrony is not believed"),
		});
		expect(found.clocks).toMatchObject([
			{ source: "probes", boundNs: 10 * MS },
			{ source: "probes", boundNs: 2 * MS },
		]);
		// Possible within both bounds: 12 ms and 160 us.
		const edge = (ns: number): Said => [ns, 2 * MS, 80 * US];
		const one: Said = [0, 10 * MS, 80 * US];
		const most = 12 * MS + 160 * US;
		expect(clockOffsetsOf(clients([one, null], [edge(most), null]))).toMatchObject({
			byChrony: true,
			note: null,
		});
		expect(clockOffsetsOf(clients([one, null], [edge(-most - 1), null]))).toMatchObject({
			byChrony: false,
			note: expect.any(String),
		});
	});

	test("where they show it after the run, the bound covers what T0 was told wrong by", () => {
		const found = whole(
			clients([kept(0, 10, 80), kept(0, 10, 80)], [kept(1, 2, 80), kept(30, 3, 80)]),
		);
		expect(found).toMatchObject({
			byChrony: true,
			offsetsNs: [1 * MS, 1 * MS],
			note: expect.stringContaining("chrony is not believed"),
		});
		expect(found.clocks).toMatchObject([
			{ beforeNs: 1 * MS, afterNs: 0, boundNs: 11 * MS, readNs: 0, source: "probes" },
			{ beforeNs: 1 * MS, afterNs: 30 * MS, boundNs: 32 * MS, readNs: 1 * MS, source: "probes" },
		]);
	});

	test("nor where it says nothing any more after the run", () => {
		const found = whole(
			clients([kept(0, 10, 80), kept(0, 10, null)], [kept(1, 2, 80), kept(1, 2, 80)]),
		);
		expect(found.note).toContain("chrony is not believed");
		expect(found.clocks).toMatchObject([
			{ source: "probes", beforeNs: 1 * MS, boundNs: 11 * MS },
			{ source: "probes", beforeNs: 1 * MS, boundNs: 2 * MS },
		]);
	});

	test("a client that cannot be asked after the run is not known, and says nothing of the others", () => {
		const found = whole(clients([kept(0, 10, 80), null], [kept(1, 2, 80), kept(1, 2, 90)]));
		expect(found.note).toBeNull();
		expect(found.clocks).toMatchObject([
			{ source: "chrony", afterNs: null },
			{ source: "chrony", afterNs: 1 * MS, boundNs: 90 * US },
		]);
	});

	test("one whose bound has grown beyond the probes' meanwhile is no help", () => {
		const found = whole(
			clients([kept(0, 10, 80), kept(0, 10, 80)], [kept(0, 10, 80), kept(0, 10, 30_000)]),
		);
		expect(found.note).toBeNull();
		expect(found.clocks).toMatchObject([
			{ source: "probes", boundNs: 10 * MS },
			{ source: "probes", boundNs: 10 * MS },
		]);
	});
});

/**
 * Machines that chrony's manual describes, probed over a network that is slower in one direction. `beyond`: how much an error exceeds its
 * bound, ns.
 */
function simulated(seed: number, beyond: (client: number, after: boolean) => number = () => 0) {
	const random = seeded(seed);
	const between = (low: number, high: number) => low + (high - low) * random();
	const sign = () => (random() < 0.5 ? -1 : 1);
	const utcNs = 1_767_225_600_000_000_000;
	const count = 2 + Math.floor(random() * 4);
	/** The longest extra delay of a probe, ns, from a rack to the other side of the world. */
	const network = 10 ** between(4, 8.3);
	/** The largest of chrony's three terms, from a reference card to a bad route. */
	const root = 10 ** between(-6, -2);
	const moment = (after: boolean) => {
		// Ours is not kept by chrony.
		const ours = between(-1e10, 1e10);
		return Array.from({ length: count }, (_, i) => {
			const [system, delay, dispersion] = [
				root * random() ** 3 * sign(),
				root * random() ** 3,
				root * random() ** 3,
			].map((s) => s.toFixed(9)) as [string, string, string];
			const line = `A9FEA97B,169.254.169.123,4,${utcNs / 1e9},${system},0.0,0.0,1.0,0.001,0.1,${delay},${dispersion},16.0,Normal`;
			const most = (Math.abs(Number(system)) + Number(dispersion) + Number(delay) / 2) * 1e9;
			// Mostly as wrong as allowed.
			const share = random() < 0.7 ? sign() : between(-1, 1);
			const error = share * most + Math.sign(share) * beyond(i, after);
			const ahead = error - ours;
			const probes = Array.from({ length: 5 }, (): Probe => {
				const way = network * random() ** 2;
				const there = way * (random() < 0.5 ? random() ** 8 : random());
				const asked = Math.round(between(0, 1e9));
				return {
					asked: BigInt(asked),
					answered: BigInt(asked + Math.ceil(way)),
					theirs: BigInt(asked + Math.round(there + ahead)),
				};
			});
			const said = {
				...reading(probes, { least: 0n, most: 0n }),
				utcBoundNs: utcBound(line, { nowS: utcNs / 1e9 + 16, cardNs: null }),
			};
			return { ahead, said };
		});
	};
	const [before, after] = [moment(false), moment(true)];
	const all = before.map(({ said }, i) => ({ before: said, after: after[i]?.said ?? null }));
	const telling = clockOffsetsOf(all);
	const { clocks, note } = clocksOf(all);
	/** The most by which two clients' times exceed the sum of their bounds; negative within it. */
	const over = Math.max(
		...[before, after].flatMap((then) =>
			then.flatMap((one, i) =>
				then.slice(0, i).map((other, j) => {
					const wrong = (k: number, { ahead }: { ahead: number }) =>
						(telling.offsetsNs[k] ?? 0) - ahead;
					const bounds = (clocks[i]?.boundNs ?? 0) + (clocks[j]?.boundNs ?? 0);
					return Math.abs(wrong(i, one) - wrong(j, other)) - bounds;
				}),
			),
		),
	);
	const probed = Math.max(...[...before, ...after].map(({ said }) => said.boundNs));
	const claimed = Math.max(...[...before, ...after].map(({ said }) => said.utcBoundNs ?? 0));
	return { over, note, telling, clocks, probed, claimed };
}

/** Four roundings to whole ns. */
const ROUNDED = 4;

describe("of simulated clocks", () => {
	test("the bound covers how far the times of any two clients are apart, and chrony is believed", () => {
		const sources = { chrony: 0, probes: 0 };
		for (let seed = 1; seed <= 1000; seed++) {
			const { over, note, clocks } = simulated(seed);
			expect(over, `seed ${seed}`).toBeLessThanOrEqual(ROUNDED);
			expect(note, `seed ${seed}`).toBeNull();
			sources[clocks[0]?.source ?? "probes"]++;
		}
		// Both sources occurred.
		expect(sources.chrony).toBeGreaterThan(150);
		expect(sources.probes).toBeGreaterThan(150);
	});

	test("the bound is no larger than that: there are clocks that use it up", () => {
		const used = Array.from({ length: 1000 }, (_, seed) => simulated(seed + 1))
			.filter(({ clocks }) => clocks[0]?.source === "chrony")
			.map(({ over, claimed }) => -over / claimed);
		expect(Math.min(...used)).toBeLessThan(0.02);
	});

	test.each([
		["before", false],
		["after", true],
	])(
		"a chrony that is wrong by more than the probes allow for, %s the run, is found out, and the bound covers it",
		(_, when) => {
			let caught = 0;
			for (let seed = 1; seed <= 500; seed++) {
				const honest = simulated(seed);
				if (!honest.telling.byChrony) continue;
				const lie = 4 * (honest.probed + honest.claimed);
				const { over, note, clocks } = simulated(seed, (client, after) =>
					client === 1 && after === when ? lie : 0,
				);
				expect(note, `seed ${seed}`).toContain("chrony is not believed");
				expect(clocks[0]?.source).toBe("probes");
				expect(over, `seed ${seed}`).toBeLessThanOrEqual(ROUNDED);
				caught++;
			}
			expect(caught).toBeGreaterThan(50);
		},
	);
});
