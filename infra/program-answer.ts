import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

/** How a program is asked. */
interface Asked {
	/** Left out: where mqbench is. */
	readonly cwd?: string;
	/** Its whole environment; if left out, mqbench's. */
	readonly env?: NodeJS.ProcessEnv;
	/** Then it is killed. */
	readonly longestMs: number;
}

/** A read-only program's output on stdout; null if it cannot be started, fails, writes without end, or takes too long. It gets no input. */
export async function answerOf(
	program: string,
	args: readonly string[],
	{ longestMs, ...how }: Asked,
): Promise<string | null> {
	const over = new AbortController();
	const options = {
		...how,
		maxBuffer: 1 << 26,
		killSignal: "SIGKILL",
		signal: over.signal,
	} as const;
	try {
		const answer = promisify(execFile)(program, args, options);
		answer.child.stdin?.end();
		const late = sleep(longestMs, undefined, { ref: false })
			// If mqbench itself was stopped, the output from that time is read first.
			.then(() => sleep(100, null, { ref: false }));
		return (await Promise.race([answer, late]))?.stdout ?? null;
	} catch {
		return null;
	} finally {
		over.abort();
	}
}
