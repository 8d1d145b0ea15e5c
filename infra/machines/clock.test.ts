import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { type Probe, readClock, reading, wallClock } from "./clock.ts";

const MS = 1_000_000n;

/** A question that was asked at some monotonic ms, took so many, and was answered when the other's clock showed so many. */
const probe = (askedMs: number, tookMs: number, theirMs: number): Probe => ({
	asked: BigInt(askedMs) * MS,
	answered: BigInt(askedMs + tookMs) * MS,
	theirs: BigInt(theirMs) * MS,
});

/** Our wall clock is 1000 ms ahead of the monotonic one. */
const wall = { least: 1000n * MS, most: 1000n * MS };

test.each([
	["answered half-way, the same clock", [probe(10, 4, 1012)], 0, 2],
	["answered at once: the offset is as wrong as the bound", [probe(10, 4, 1010)], -2, 2],
	["answered as late as can be", [probe(10, 4, 1014)], 2, 2],
	["theirs is 5 s ahead", [probe(10, 4, 6012)], 5000, 2],
	["theirs is 5 s behind", [probe(10, 4, 12 + 1000 - 5000)], -5000, 2],
	[
		"the shortest round trip counts",
		[probe(10, 8, 1010), probe(30, 2, 1031), probe(50, 6, 1056)],
		0,
		1,
	],
] as const)("%s", (_, probes, offsetMs, boundMs) => {
	expect(reading(probes, wall)).toEqual({ offsetNs: offsetMs * 1e6, boundNs: boundMs * 1e6 });
});

test("what is not known of our own wall clock widens the bound", () => {
	const loose = { least: 999n * MS, most: 1001n * MS };
	expect(reading([probe(10, 4, 1012)], loose)).toEqual({ offsetNs: 0, boundNs: 3e6 });
});

test("our own wall clock is known better than the millisecond that it shows", () => {
	const { least, most } = wallClock();
	expect(Number(most - least)).toBeGreaterThanOrEqual(0);
	expect(Number(most - least)).toBeLessThan(1e6);
	const shown = BigInt(Date.now()) * MS;
	const unix = process.hrtime.bigint() + least;
	// Between the two calls a busy machine may do something else.
	expect(unix - shown).toBeGreaterThan(-MS);
	expect(unix - shown).toBeLessThan(1000n * MS);
});

test("a line that answers with our own clock is not apart from it by more than the bound", async () => {
	const { stdin, stdout } = line((answer) => {
		answer("Welcome to h1");
		answer(unixNs());
	});
	const read = await readClock({ stdin, stdout }, 5);
	expect(Math.abs(read.offsetNs)).toBeLessThanOrEqual(read.boundNs);
	expect(read.boundNs).toBeGreaterThan(0);
});

test("an hour ahead is an hour ahead", async () => {
	const { stdin, stdout } = line((answer) => answer(String(BigInt(unixNs()) + 3_600_000n * MS)));
	const read = await readClock({ stdin, stdout }, 5);
	expect(Math.abs(read.offsetNs - 3.6e12)).toBeLessThanOrEqual(read.boundNs);
});

test("a line that ends instead of an answer is told", async () => {
	const { stdin, stdout } = line((answer) => answer(null));
	await expect(readClock({ stdin, stdout })).rejects.toThrow("does not answer");
	await expect(readClock({ stdin, stdout })).rejects.toThrow("does not answer");
});

/** The two ends of a line, of which the other one does this with every question. */
function line(respond: (answer: (text: string | null) => void) => void) {
	const stdin = new PassThrough();
	const stdout = new PassThrough();
	stdin.on("data", () =>
		respond((text) => {
			if (text === null) stdout.end();
			else stdout.write(`${text}\n`);
		}),
	);
	return { stdin, stdout };
}

function unixNs(): string {
	const { least } = wallClock(1);
	return String(process.hrtime.bigint() + least);
}
