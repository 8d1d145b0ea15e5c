import { Transform } from "node:stream";
import { HOLDER, hold } from "../machines/held.ts";
import { type Link, LOST, type Remote, runOver, shellWords } from "../machines/link.ts";
import { noShell } from "../machines/trouble.ts";
import { startApart } from "../process.ts";
import { ALIVE, ALIVE_MS, CONTAINER, WORK } from "./job.ts";
import { type PodAt, whyKilled, whyLost } from "./trouble.ts";

/**
 * Connects to a pod: one `kubectl exec` that lives as long as mqbench and shows the pod that it does, and others for commands. `stop`
 * cancels. Fails with a sentence.
 */
export async function openPodLink(
	pod: PodAt,
	{ agent, cwd }: { readonly agent: string; readonly cwd: string },
	stop: AbortSignal,
): Promise<Link> {
	const { kubectl } = pod;
	const held = await hold(
		{
			argv: [kubectl.program, ...execWords(pod, HEARING, [])],
			agent,
			cwd,
			env: kubectl.env,
			aliveMs: ALIVE_MS,
			failed: (ended, words) =>
				ended !== null && /executable file not found|no such file/i.test(words)
					? noShell(pod, words)
					: whyLost(pod, words),
		},
		stop,
	);
	const start = (line: string, args: readonly string[] = []): Remote =>
		execIn(pod, line, args, cwd);
	const lost = async (err: string) => {
		const why = await whyLost(pod, `${held.words()}${err}`);
		await held.close();
		return why;
	};
	const run: Link["run"] = (line, args, how) => runOver({ spawn: start, lost }, line, args, how);
	return { ...held, lost, spawn: start, run, fate: () => whyKilled(pod, run) };
}

// --- internal ---

/** Each line is a sign of life from mqbench. It ends with the connection, at the end of its input. */
const HEARING = `${HOLDER}; while IFS= read -r _; do : >${ALIVE}; done`;

/** mqbench's home is a separate folder: an image's may belong to another user. */
const HOME = `HOME=${WORK}; export HOME; `;

function execWords({ kubectl, pod }: PodAt, line: string, args: readonly string[]): string[] {
	return [
		...kubectl.where,
		"exec",
		"--stdin",
		"--quiet",
		pod,
		"--container",
		CONTAINER,
		"--",
		...shellWords(`${HOME}${line}`, args),
	];
}

/** A command in the pod; `code` is its own, as kubectl reports it, and LOST for everything that is kubectl's own. */
function execIn(pod: PodAt, line: string, args: readonly string[], cwd: string): Remote {
	const { kubectl } = pod;
	const child = startApart(kubectl.program, execWords(pod, line, args), { cwd, env: kubectl.env });
	const report = withoutReport();
	const { stream: stderr } = report;
	child.stderr.pipe(stderr);
	return {
		stdin: child.stdin,
		stdout: child.stdout,
		stderr,
		code: new Promise((resolve) => {
			child.once("error", () => resolve(LOST));
			child.once("close", (code) => resolve(code === 0 || report.told() ? (code ?? LOST) : LOST));
		}),
		kill: (signal) => void child.kill(signal),
	};
}

/** stderr without the line in which kubectl reports that the command itself has failed. */
function withoutReport(): { readonly stream: Transform; told(): boolean } {
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
