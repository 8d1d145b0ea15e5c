import { interrupted } from "../../runner/stop.ts";
import { type Ended, startSupervised } from "../process.ts";
import type { Link } from "./link.ts";

/** A command on a host that lives as long as the connection to it, and as mqbench. */
export interface Held extends Pick<Link, "holder" | "alive" | "close"> {
	/** The last stderr output of its program here. */
	words(): string;
}

export interface Holding {
	/** The program agent of this machine. */
	readonly agent: string;
	/** Starts it: its output begins with HOLDER, and it ends when its standard input does. */
	readonly argv: readonly string[];
	readonly cwd: string;
	readonly env: Readonly<Record<string, string>>;
	/** Interval of a line written to it, ms; absent for never. */
	readonly aliveMs?: number;
	/** Called once when it has ended, however that came. */
	over?(): Promise<void>;
	/** The error of a connection that did not come about; null if it took too long. */
	failed(ended: Ended | null, words: string): Error | Promise<Error>;
}

/** A piece of sh that prints the process that holds the connection. */
export const HOLDER = 'echo; echo "mqbench:holder=$$"';

/** Starts it, and returns when it has printed its holder; `stop` cancels. Fails with `failed`'s error, or with `interrupted`. */
export async function hold(
	{ agent, argv, cwd, env, aliveMs, over, failed }: Holding,
	stop: AbortSignal,
): Promise<Held> {
	let words = "";
	let alive = true;
	let held = (_: number) => {};
	const holding = new Promise<number>((resolve) => {
		held = resolve;
	});
	const child = startSupervised({
		agent,
		argv,
		cwd,
		env,
		control: true,
		graceMs: 2_000,
		onStdout(line) {
			const pid = /^mqbench:holder=(\d+)$/.exec(line)?.[1];
			if (pid) held(Number(pid));
		},
		onStderr(line) {
			words = `${words}${line}\n`.slice(-4_000);
		},
	});
	const telling =
		aliveMs === undefined ? undefined : setInterval(() => child.say("alive"), aliveMs);
	const ended = child.ended.then(async (how) => {
		alive = false;
		clearInterval(telling);
		await over?.();
		return how;
	});
	const close = async () => {
		child.abandon();
		// Agent kills after its grace period; the program may be frozen.
		const killed = setTimeout(() => child.kill(), 5_000);
		await ended;
		clearTimeout(killed);
	};
	const late = AbortSignal.timeout(CONNECT_MS);
	const until = AbortSignal.any([stop, late]);
	const giveUp = () => child.kill();
	until.addEventListener("abort", giveUp, { once: true });
	if (until.aborted) giveUp();
	const first = await Promise.race([holding, ended]);
	until.removeEventListener("abort", giveUp);
	if (typeof first === "number" && !until.aborted)
		return { holder: first, alive: () => alive, words: () => words, close };
	await close();
	if (stop.aborted) throw interrupted(stop);
	throw await failed(late.aborted || typeof first === "number" ? null : first, words);
}

// --- internal ---

/** A login that takes longer hangs. */
const CONNECT_MS = 30_000;
