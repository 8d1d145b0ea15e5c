#!/usr/bin/env node
import { writeSync } from "node:fs";
import { printable } from "./printable.ts";
import { hasColour } from "./terminal/look.ts";
import type { World } from "./world.ts";

// The only file that touches process. First of all, hide our command line from the process list: it may hold a URL with a password.
const argv = process.argv.slice(2);
process.title = "mqbench";

/** A second signal this soon does not end mqbench at once while machines are left. */
const AGAIN_MS = 1_000;
/** A second signal this soon repeats the first: timeout(1) signals its command and then the command's group. */
const SAME_MS = 100;

/** The text about machines that stay and cost money if we exit at once. */
let left: string | null = null;

const stop = new AbortController();
/** Time since the first signal, advanced only when all signals until then have been handled. */
let sinceMs: number | null = null;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
	process.on(signal, () => onSignal(signal));

// npx and npm start us through a shell that forwards no signals. If a kill or a cancelled CI job ends that shell, we would go on.
if (process.env.npm_command) {
	const parent = process.ppid;
	setInterval(() => {
		if (process.ppid !== parent && sinceMs === null) onSignal("SIGTERM");
	}, 500).unref();
}

/** A reader that has gone (`mqbench ... | head`) is not an error. */
let unwritten: Error | undefined;
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
	if (error.code !== "EPIPE") unwritten = error;
});
// There is nowhere left to report it.
process.stderr.on("error", () => {});

let piped: AsyncIterator<string> | undefined;

const world: World = {
	stdout: sink(process.stdout),
	stderr: sink(process.stderr),
	cwd: process.cwd(),
	env: process.env,
	clock: { nowMs: () => Date.now(), monotonicMs: () => performance.now() },
	ask: process.stdin.isTTY && process.stderr.isTTY ? ask : null,
	nextLine: process.stdin.isTTY ? undefined : nextLine,
	stop: stop.signal,
	interrupt: () => onSignal("SIGINT"),
	leaving(text) {
		left = text;
	},
};

// Scripts ask for it often, and it needs no other module.
if (argv.length === 1 && /^(?:-v|--version)$/.test(argv[0] ?? "")) {
	const { packageVersion } = await import("./package.ts");
	world.stdout.write(`${packageVersion}\n`);
	await flushed(process.stdout);
	process.exit(0);
}
const { explain, main } = await import("./main.ts");
/** Exit code of an error in a callback of a stream or timer, where nothing awaits. */
let uncaught: number | null = null;
process.on("uncaughtException", (error) => {
	const code = explain(error, world);
	if (left === null || uncaught !== null) go(code);
	// Rented machines cost money, so the first error stops in order, as Ctrl-C does; a second one shows that this does not work.
	uncaught = code;
	stop.abort("an error");
});

let code: number = await main(argv, world);
if (uncaught !== null && code !== 5) code = uncaught;
// Nothing may keep the process alive after the verdict, but all output is flushed.
await Promise.all([process.stdout, process.stderr].map(flushed));
if (unwritten) {
	const { failure } = await import("./errors.ts");
	const { reasonOf } = await import("./reason.ts");
	const exit = explain(failure("stdout-unwritable", { reason: reasonOf(unwritten) }), world);
	if (code === 0) code = exit;
}
go(code);

// --- internal ---

/** The first one ends the run in order, a second one at once; agents end the rest. */
function onSignal(signal: "SIGINT" | "SIGTERM" | "SIGHUP"): void {
	if (sinceMs === null) {
		sinceMs = 0;
		stop.abort(signal);
		// An immediate follows pending signals: a signal that came while we were busy is not taken for a later one.
		for (const ms of [SAME_MS, AGAIN_MS]) setTimeout(() => setImmediate(heard, ms), ms).unref();
		return;
	}
	// A closing terminal sends SIGHUP more than once; that is not a second request.
	if (signal === "SIGHUP") return;
	if (sinceMs < (left === null ? SAME_MS : AGAIN_MS)) return;
	go(signal === "SIGTERM" ? 143 : 130);
}

/** Late timers may come in any order. */
function heard(ms: number): void {
	sinceMs = Math.max(sinceMs ?? 0, ms);
}

/** Ends at once. Anything left in the cloud overrides every other exit code. */
function go(code: number): never {
	if (left === null) process.exit(code);
	try {
		// A stream may not be flushed any more.
		writeSync(2, printable(`\n${left}\n`));
	} catch {
		// There is nowhere left to report it.
	}
	process.exit(5);
}

/** Asks on stderr because stdout may be a file. Ctrl-C stops mqbench; after it, and after Ctrl-D, the answer is empty. */
async function ask(question: string): Promise<string> {
	const { createInterface } = await import("node:readline/promises");
	const terminal = createInterface({ input: process.stdin, output: process.stderr });
	terminal.on("SIGINT", () => onSignal("SIGINT"));
	try {
		return await Promise.race([
			terminal.question(printable(question), { signal: stop.signal }),
			new Promise<string>((resolve) => terminal.once("close", () => resolve(""))),
		]);
	} catch (error) {
		if (stop.signal.aborted) return "";
		throw error;
	} finally {
		terminal.close();
	}
}

/** Line by line; the rest of standard input stays unread. A stop ends it. */
async function nextLine(): Promise<string | null> {
	const { createInterface } = await import("node:readline");
	piped ??= createInterface({ input: process.stdin, signal: stop.signal })[Symbol.asyncIterator]();
	const { done, value } = await piped.next();
	return done ? null : value;
}

function sink(stream: NodeJS.WriteStream): World["stdout"] {
	const colour = hasColour(stream.isTTY === true, process.env);
	return {
		isTTY: stream.isTTY === true,
		get columns() {
			return stream.columns || 80;
		},
		get rows() {
			return stream.rows;
		},
		write: (text) => void stream.write(printable(text, colour)),
		control: (text) => void stream.write(text),
	};
}

function flushed(stream: NodeJS.WriteStream): Promise<void> {
	return new Promise((resolve) => {
		if (stream.destroyed) resolve();
		else stream.write("", () => resolve());
	});
}
