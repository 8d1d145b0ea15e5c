import { spawn } from "node:child_process";

/** How a program is asked. */
interface Asked {
	/** Left out: where mqbench is. */
	readonly cwd?: string;
	/** Its whole environment; left out: mqbench's. */
	readonly env?: NodeJS.ProcessEnv;
	/** Then it is killed. */
	readonly longestMs: number;
}

/** Characters of an answer that are read. */
const MOST = 1 << 20;
const GRACE_MS = 100;

/**
 * What a program that only looks writes to stdout, of a very long text the first part; null: it cannot be started, it fails, or it takes too
 * long. It gets no input. Never rejected.
 */
export function answerOf(
	program: string,
	args: readonly string[],
	{ longestMs, ...how }: Asked,
): Promise<string | null> {
	return new Promise((resolve) => {
		try {
			const child = spawn(program, args, { ...how, stdio: ["ignore", "pipe", "ignore"] });
			let text = "";
			const end = (answer: string | null) => {
				clearTimeout(timer);
				child.kill("SIGKILL");
				// What it has started may hold it open.
				child.stdout.destroy();
				resolve(answer);
			};
			let timer = setTimeout(() => {
				// Where mqbench itself stood still, what has come meanwhile is read first.
				timer = setTimeout(end, GRACE_MS, null);
			}, longestMs);
			child.stdout.setEncoding("utf8").on("data", (more: string) => {
				text += more;
				if (text.length > MOST) end(text);
			});
			child.once("error", () => end(null));
			child.once("close", (code) => end(code === 0 ? text : null));
		} catch {
			resolve(null);
		}
	});
}
