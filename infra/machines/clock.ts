import type { Readable, Writable } from "node:stream";
import { tell } from "../../runner/text/tell.ts";
import type { ClockReading } from "../rig.ts";
import type { RemoteHost } from "./host.ts";
import { type Link, textOf } from "./link.ts";
import { lastLine, unfit } from "./trouble.ts";

/** Compares a machine's clock with ours. Fails with a sentence if agent, a path there, does not run. */
export async function askClock(host: RemoteHost, link: Link, agent: string): Promise<ClockReading> {
	const child = link.spawn('exec "$1" clock', [agent]);
	const err = textOf(child.stderr);
	try {
		return await readClock(child);
	} catch {
		const hangs = setTimeout(() => child.kill("SIGKILL"), END_MS);
		child.stdin.end();
		const code = await child.code;
		clearTimeout(hangs);
		if (!link.alive()) throw await link.lost(err());
		const said = lastLine(err());
		throw unfit(
			host,
			`the programs do not run there (exit code ${code}${said === "" ? "" : `: ${said}`})`,
			tell("noexec"),
		);
	} finally {
		child.stdin.end();
	}
}

/**
 * How far a host's clock is ahead of ours. The host answers each line with its Unix ns (`agent clock`). The true difference is within
 * `boundNs`: the answer was made between question and answer, and the shortest round trip gives the tightest bound.
 */
export async function readClock(
	{ stdin, stdout }: { readonly stdin: Writable; readonly stdout: Readable },
	probes = 20,
): Promise<ClockReading> {
	const taken = await new Promise<Probe[]>((resolve, reject) => {
		const taken: Probe[] = [];
		const fail = () => reject(new Error("the clock there does not answer"));
		let late: NodeJS.Timeout | undefined;
		let asked = 0n;
		let buffered = "";
		const ask = () => {
			late = setTimeout(fail, ANSWER_MS);
			asked = process.hrtime.bigint();
			stdin.write("\n");
		};
		stdout.on("data", (piece: Buffer) => {
			const answered = process.hrtime.bigint();
			buffered += piece.toString("latin1");
			const theirs = /^(\d{19})\n/m.exec(buffered)?.[1];
			if (theirs === undefined) return;
			buffered = "";
			clearTimeout(late);
			taken.push({ asked, answered, theirs: BigInt(theirs) });
			if (taken.length < probes) ask();
			else resolve(taken);
		});
		for (const event of ["end", "error"])
			stdout.once(event, () => {
				clearTimeout(late);
				fail();
			});
		if (stdout.readableEnded) fail();
		else ask();
	});
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
 * Node's wall clock has whole milliseconds; only the moment of a change is more exact. A few changes place it between two times of the
 * monotonic clock.
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
const END_MS = 5_000;

const max = (a: bigint | null, b: bigint) => (a === null || b > a ? b : a);
const min = (a: bigint | null, b: bigint) => (a === null || b < a ? b : a);
