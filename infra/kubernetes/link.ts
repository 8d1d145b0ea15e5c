import { spawn } from "node:child_process";
import { Transform } from "node:stream";
import { interrupted } from "../../runner/stop.ts";
import { startSupervised } from "../process.ts";
import {
	type Link,
	LOST,
	type Remote,
	runOver,
	shellWords,
} from "../remote/link.ts";
import { noShell } from "../remote/trouble.ts";
import { ALIVE, ALIVE_MS, CONTAINER, WORK } from "./job.ts";
import type { Kubectl } from "./kubectl.ts";
import { type Lost, whyKilled, whyLost } from "./trouble.ts";

/** A pod that is running, for `kubectl exec`. */
export interface PodAt extends Lost {
	readonly kubectl: Kubectl;
	/** For people, and the system whose broker is in it. */
	readonly name: string;
	readonly broker?: string;
}

/**
 * Connects to a pod: one `kubectl exec` that lives as long as mqbench and tells the pod so, and others for commands. `stop` cancels. Fails with a
 * sentence.
 */
export async function openPodLink(
	pod: PodAt,
	{ agent, cwd }: { readonly agent: string; readonly cwd: string },
	stop: AbortSignal,
): Promise<Link> {
	const { kubectl } = pod;
	let words = "";
	let over = false;
	let late = false;
	let held = (_: number) => {};
	const holding = new Promise<number>((resolve) => {
		held = resolve;
	});
	const child = startSupervised({
		agent,
		argv: [kubectl.program, ...execWords(pod, HOLDER, [])],
		...{ cwd, env: kubectl.env, control: true, graceMs: 2_000 },
		onStdout(line) {
			const pid = /^mqbench:holder=(\d+)$/.exec(line)?.[1];
			if (pid) held(Number(pid));
		},
		onStderr(line) {
			words = `${words}${line}\n`.slice(-4_000);
		},
	});
	const alive = setInterval(() => child.say("alive"), ALIVE_MS);
	const ended = child.ended.then((how) => {
		over = true;
		clearInterval(alive);
		return how;
	});
	const close = async () => {
		child.abandon();
		const killed = setTimeout(() => child.kill(), 5_000);
		await ended;
		clearTimeout(killed);
	};
	const giveUp = () => child.kill();
	const limit = setTimeout(() => {
		late = true;
		child.kill();
	}, CONNECT_MS);
	stop.addEventListener("abort", giveUp, { once: true });
	if (stop.aborted) giveUp();
	const first = await Promise.race([holding, ended]);
	clearTimeout(limit);
	stop.removeEventListener("abort", giveUp);
	if (stop.aborted) {
		await close();
		throw interrupted(stop);
	}
	if (typeof first !== "number") {
		if (!late && /executable file not found|no such file/i.test(words))
			throw noShell(pod, words);
		throw await whyLost(pod, kubectl, words);
	}
	const start = (line: string, args: readonly string[] = []): Remote =>
		execIn(pod, line, args, cwd);
	const lost = async (err: string) => {
		const why = await whyLost(pod, kubectl, `${words}${err}`);
		await close();
		return why;
	};
	const run: Link["run"] = (line, args, feed) =>
		runOver({ spawn: start, lost }, line, args, feed);
	return {
		...{ holder: first, alive: () => !over, lost, spawn: start, run, close },
		fate: () => whyKilled(pod, kubectl, run),
	};
}

// --- internal ---

const CONNECT_MS = 30_000;

/** Each line that comes says that mqbench is there. It ends with the connection, whose end is the end of its input. */
const HOLDER = `echo; echo "mqbench:holder=$$"; while IFS= read -r _; do : >${ALIVE}; done`;

/** mqbench's home is a folder of its own: an image's may belong to another user. */
const HOME = `HOME=${WORK}; export HOME; `;

function execWords(
	{ kubectl, pod }: PodAt,
	line: string,
	args: readonly string[],
): string[] {
	return [
		...kubectl.where,
		...["exec", "--stdin", "--quiet", pod, "--container", CONTAINER, "--"],
		...shellWords(`${HOME}${line}`, args),
	];
}

/** A command in the pod; `code` is its own, as kubectl reports it, and LOST for everything that is kubectl's own. */
function execIn(
	pod: PodAt,
	line: string,
	args: readonly string[],
	cwd: string,
): Remote {
	const { kubectl } = pod;
	const child = spawn(kubectl.program, execWords(pod, line, args), {
		...{ cwd, env: { ...kubectl.env }, stdio: ["pipe", "pipe", "pipe"] },
		// The terminal's Ctrl-C reaches only mqbench, which decides what to do.
		detached: true,
	});
	// It may end before its input is read; its exit code says why.
	child.stdin.on("error", () => {});
	const report = withoutReport();
	const { stream: stderr } = report;
	child.stderr.pipe(stderr);
	return {
		...{ stdin: child.stdin, stdout: child.stdout, stderr },
		code: new Promise((resolve) => {
			child.once("error", () => resolve(LOST));
			child.once("close", (code) =>
				resolve(code === 0 || report.told() ? (code ?? LOST) : LOST),
			);
		}),
		kill: (signal) => void child.kill(signal),
	};
}

/** stderr without the line by which kubectl says that the command itself has failed. */
function withoutReport(): {
	readonly stream: Transform;
	told(): boolean;
} {
	let held = "";
	let told = false;
	const stream = new Transform({
		transform(piece: Buffer, _, done) {
			const lines = (held + piece.toString("latin1")).split("\n");
			held = lines.pop() ?? "";
			for (const line of lines) pass(`${line}\n`);
			done();
		},
		flush(done) {
			if (held !== "") pass(held);
			done();
		},
	});
	const pass = (line: string) => {
		const own = line.replace(REPORT, "");
		told ||= own !== line;
		if (own !== "") stream.push(own, "latin1");
	};
	return { stream, told: () => told };
}

const REPORT = /command terminated with exit code \d+\n?$/;
