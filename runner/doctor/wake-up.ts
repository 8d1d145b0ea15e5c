/** Measured times, ns, ascending. */
export type Times = readonly number[];

/**
 * How late this machine wakes a sleeping thread: `Atomics.wait` for 1 ms, 300 times or for 0.6 s. Not the generator's own pacer, which
 * asks the kernel for exacter timers and spins: but what delays this thread delays that one, and every broker.
 */
export async function wakeUp(): Promise<Times> {
	const never = new Int32Array(new SharedArrayBuffer(4));
	const late: number[] = [];
	const end = performance.now() + MOST_MS;
	for (let i = 0; i < SLEEPS && performance.now() < end; i++) {
		const before = process.hrtime.bigint();
		Atomics.wait(never, 0, 0, 1);
		late.push(Math.max(0, Number(process.hrtime.bigint() - before) - 1e6));
		// Ctrl-C and progress get their turn.
		if (i % 50 === 49) await new Promise((resolve) => setImmediate(resolve));
	}
	return late.sort((a, b) => a - b);
}

/** The time of rank ceil(n * p / 100). */
export function timeAt(times: Times, p: number): number {
	return times[Math.max(1, Math.ceil((times.length * p) / 100)) - 1] ?? 0;
}

// --- internal ---

const SLEEPS = 300;
/** A machine that is later than a millisecond each time is known by then. */
const MOST_MS = 600;
