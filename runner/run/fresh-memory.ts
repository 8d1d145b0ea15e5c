import {
	closeSync,
	ftruncateSync,
	mkdtempSync,
	openSync,
	rmSync,
	statfsSync,
	writeSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { largestOf, smallestOf } from "../extremes.ts";
import type { Plan } from "../model/plan.ts";
import { targets } from "../model/targets.ts";
import { sum } from "../stats/sum.ts";
import { median } from "../stats/trend.ts";

/**
 * What a MiB of memory that is new to this machine takes longer than one that it had just now, ns; null: it cannot be measured, the plan's
 * messages are too few for it to matter, or no broker is a process of this machine.
 *
 * The host of a virtual machine may give it a page only when it is first touched, and take back what is free: then a broker that keeps what it
 * gets is as slow as the host, for as long as the pages are new. Seen on Firecracker: 0.2 ms for a MiB in the page cache, 2.3 ms if new.
 */
export function freshMemory(
	plan: Pick<Plan, "target" | "server" | "message" | "schedule">,
	write: typeof writeMibs = writeMibs,
): number | null {
	const bytes = plan.message.bytes * plan.schedule.messages;
	const isOurs = plan.server && targets[plan.target].place === "process";
	if (!isOurs || bytes < LEAST_BYTES) return null;
	const most = Math.floor(Math.min(MOST_MIB, process.availableMemory() / SHARE / MIB));
	try {
		const [fresh, again] = write(most);
		return Math.max(0, Math.round(slowest(fresh) - middle(again)));
	} catch {
		return null;
	}
}

// --- internal ---

const MIB = 1 << 20;
/** Messages that are fewer bytes than that find room in memory that is known. */
const LEAST_BYTES = 64 * MIB;
/** A machine that has run a broker before has so much of known memory, which it hands out first. */
const MOST_MIB = 1024;
/** Of the memory that is available here, also in a container: far from where a kernel makes writers wait for the disk. */
const SHARE = 8;
/** So many in a row: a core that is taken away meanwhile delays one or two of them. */
const RUN = 16;
/** A disk that makes each write wait tells nothing of memory, and nobody waits for it. */
const LONGEST_NS = 4e9;
/** New memory has been found when a run of it takes so many times as long as the fastest. */
const FOUND = 4;

/** Times, ns, of writing MiB for MiB into a file, until slow ones are found, there are `most`, or 4 s are over; and of writing the last ones again in the memory that this left. */
function writeMibs(most: number): readonly [fresh: number[], again: number[]] {
	const folder = mkdtempSync(path.join(os.tmpdir(), "mqbench-memory-"));
	const file = openSync(path.join(folder, "new"), "w");
	try {
		const { bavail, bsize } = statfsSync(folder);
		// It has no name while it is large, so that not even a SIGKILL leaves it.
		rmSync(folder, { recursive: true });
		const chunk = Buffer.alloc(MIB, 1);
		const timed = (at: number) => {
			const began = process.hrtime.bigint();
			writeSync(file, chunk, 0, MIB, at * MIB);
			return Number(process.hrtime.bigint() - began);
		};
		const fresh: number[] = [];
		const least = Math.min(most, (bavail * bsize) / SHARE / MIB);
		let found = false;
		while (fresh.length < least && !found && sum(fresh) < LONGEST_NS) {
			fresh.push(timed(fresh.length));
			found = fresh.length % RUN === 0 && middle(fresh.slice(-RUN)) > FOUND * smallestOf(fresh);
		}
		ftruncateSync(file);
		return [fresh, Array.from({ length: RUN }, (_, at) => timed(at))];
	} finally {
		closeSync(file);
		rmSync(folder, { recursive: true, force: true });
	}
}

/** The median of the slowest run. */
function slowest(times: readonly number[]): number {
	if (times.length < RUN) throw new Error("too few");
	const medians: number[] = [];
	for (let i = RUN; i <= times.length; i += RUN) medians.push(middle(times.slice(i - RUN, i)));
	return largestOf(medians);
}

function middle(times: readonly number[]): number {
	return median(times) ?? Number.NaN;
}
