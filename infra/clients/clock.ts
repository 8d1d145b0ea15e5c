import type { Readable, Writable } from "node:stream";
import type { ClockReading } from "../rig.ts";

/**
 * How far the clock at the other end of a line is ahead of ours. It answers each line with its Unix ns (`agent clock`). The true
 * difference is within `boundNs`: the answer was made somewhere between question and answer, and the shortest round trip says it best.
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
	/** Monotonic clock when it was asked and answered, ns. */
	readonly asked: bigint;
	readonly answered: bigint;
	/** The other's wall clock in between. */
	readonly theirs: bigint;
}

/** What our wall clock is ahead of the monotonic one, ns, at least and at most. */
export interface WallClock {
	readonly least: bigint;
	readonly most: bigint;
}

/** The best of some questions. */
export function reading(
	probes: readonly Probe[],
	{ least, most }: WallClock,
): ClockReading {
	const best = probes.reduce((a, b) =>
		b.answered - b.asked < a.answered - a.asked ? b : a,
	);
	// theirs - ours: at most when they answered at once, and ours is the least that it can be.
	const high = best.theirs - best.asked - least;
	const low = best.theirs - best.answered - most;
	return {
		offsetNs: Number((high + low) / 2n),
		boundNs: Number((high - low + 1n) / 2n),
	};
}

/**
 * Node's wall clock has whole milliseconds: only the moment at which it changes is known better. A few changes put it between two
 * times of the monotonic clock.
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

/** Who has not answered by then never will. */
const ANSWER_MS = 20_000;

/** Asks one question after the other. */
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
				// A shell's greeting is no time.
				if (!/^\d{19}$/.test(line)) return;
				clearTimeout(late);
				resolve({ asked, answered, theirs: BigInt(line) });
			};
			stdin.write("\n");
		});
}

const max = (a: bigint | null, b: bigint) => (a === null || b > a ? b : a);
const min = (a: bigint | null, b: bigint) => (a === null || b < a ? b : a);
