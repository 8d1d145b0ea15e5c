import type { Readable, Writable } from "node:stream";
import type { ClockReading } from "../rig.ts";

/**
 * How far a host's clock is ahead of ours. The host answers each line with its Unix ns (`agent clock`). The true difference is within
 * `boundNs`: the answer was made between question and answer, and the shortest round trip gives the tightest bound.
 */
export async function readClock(
	line: { readonly stdin: Writable; readonly stdout: Readable },
	probes = 20,
): Promise<ClockReading> {
	const ask = asking(line);
	const taken: Probe[] = [];
	for (let i = 0; i < probes; i++) taken.push(await ask());
	return reading(taken, wallClock());
}

/** One question. */
export interface Probe {
	/** Monotonic clock at the question and at the answer, ns. */
	readonly asked: bigint;
	readonly answered: bigint;
	/** The host's wall clock in between. */
	readonly theirs: bigint;
}

/** Least and most that our wall clock is ahead of the monotonic one, ns. */
export interface WallClock {
	readonly least: bigint;
	readonly most: bigint;
}

/** The best of several questions. */
export function reading(probes: readonly Probe[], { least, most }: WallClock): ClockReading {
	const best = probes.reduce((a, b) => (b.answered - b.asked < a.answered - a.asked ? b : a));
	// theirs - ours is largest if they answered at once and ours is at its least.
	const high = best.theirs - best.asked - least;
	const low = best.theirs - best.answered - most;
	return { offsetNs: Number((high + low) / 2n), boundNs: Number((high - low + 1n) / 2n) };
}

/**
 * Node's wall clock has whole milliseconds; only the moment of a change is known more exactly. A few changes place it between two times of
 * the monotonic clock.
 */
export function wallClock(changes = 4): WallClock {
	let least: bigint | null = null;
	let most: bigint | null = null;
	let before = process.hrtime.bigint();
	let was = Date.now();
	for (let seen = 0; seen < changes; ) {
		const now = process.hrtime.bigint();
		const ms = Date.now();
		const after = process.hrtime.bigint();
		if (ms === was + 1) {
			const unix = BigInt(ms) * 1_000_000n;
			least = max(least, unix - after);
			most = min(most, unix - before);
			seen++;
		}
		before = now;
		was = ms;
	}
	if (least === null || most === null || least > most) return wallClock();
	return { least, most };
}

// --- internal ---

/** A host that has not answered by then never will. */
const ANSWER_MS = 20_000;

/** Asks the questions one after the other. */
function asking({
	stdin,
	stdout,
}: {
	readonly stdin: Writable;
	readonly stdout: Readable;
}): () => Promise<Probe> {
	let buffered = "";
	let over = stdout.readableEnded;
	let hear = (_: string, __: bigint) => {};
	let fail = () => {};
	stdout.on("data", (piece: Buffer) => {
		const answered = process.hrtime.bigint();
		const lines = (buffered + piece.toString("latin1")).split("\n");
		buffered = lines.pop() ?? "";
		for (const line of lines) hear(line, answered);
	});
	const ended = () => {
		over = true;
		fail();
	};
	stdout.once("end", ended);
	stdout.once("error", ended);
	return () =>
		new Promise((resolve, reject) => {
			const late = setTimeout(() => fail(), ANSWER_MS);
			fail = () => {
				clearTimeout(late);
				reject(new Error("the clock there does not answer"));
			};
			if (over) return fail();
			const asked = process.hrtime.bigint();
			hear = (line, answered) => {
				// A greeting of the shell is not a time.
				if (!/^\d{19}$/.test(line)) return;
				clearTimeout(late);
				resolve({ asked, answered, theirs: BigInt(line) });
			};
			stdin.write("\n");
		});
}

const max = (a: bigint | null, b: bigint) => (a === null || b > a ? b : a);
const min = (a: bigint | null, b: bigint) => (a === null || b < a ? b : a);
