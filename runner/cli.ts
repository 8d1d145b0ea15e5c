#!/usr/bin/env node
import { writeSync } from "node:fs";
import type { World } from "./world.ts";

// The only file that touches process. First of all: a URL with a password on our command line is not to stay in
// the process list.
const argv = process.argv.slice(2);
process.title = "mqbench";

/** What stays, and costs money, if we go at once. */
let left: string | null = null;

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
	process.on(signal, () => {
		// The first one ends the run in order; who asks again does not want to wait. The guards end what is left.
		if (stop.signal.aborted) go(signal === "SIGTERM" ? 143 : 130);
		stop.abort(signal);
	});

/** Why stdout could not be written to its end; a reader that has gone (`mqbench ... | head`) is no error. */
let unwritten: Error | undefined;
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
	if (error.code !== "EPIPE") unwritten = error;
});
// Nobody is left to be told.
process.stderr.on("error", () => {});

const world: World = {
	stdout: sink(process.stdout),
	stderr: sink(process.stderr),
	cwd: process.cwd(),
	env: process.env,
	clock: {
		nowMs: () => Date.now(),
		monotonicMs: () => performance.now(),
	},
	ask: process.stdin.isTTY && process.stderr.isTTY ? ask : null,
	stop: stop.signal,
	leaving(text) {
		left = text;
	},
};

const { explain, main } = await import("./main.ts");
// In a callback of a stream or a timer, where no one awaits.
process.on("uncaughtException", (error) => go(explain(error, world)));

let code = await main(argv, world);
// Nothing may keep the process alive once the verdict is out; what was written is flushed first.
await Promise.all([process.stdout, process.stderr].map(flushed));
if (unwritten) {
	const { failure } = await import("./errors.ts");
	const { reasonOf } = await import("./reason.ts");
	const error = failure("stdout-unwritable", { reason: reasonOf(unwritten) });
	const exit = explain(error, world);
	if (code === 0) code = exit;
}
go(code);

// --- internal ---

/** Ends at once. What is left in the cloud then beats every other exit code. */
function go(code: number): never {
	if (left === null) process.exit(code);
	try {
		// A stream may not get rid of it any more.
		writeSync(2, `\n${left}\n`);
	} catch {
		// Nobody is left to be told.
	}
	process.exit(5);
}

/** Asks on stderr: stdout may be a file. Ctrl-C is a stop, as everywhere. */
async function ask(question: string): Promise<string> {
	const { createInterface } = await import("node:readline/promises");
	const terminal = createInterface({
		input: process.stdin,
		output: process.stderr,
	});
	terminal.on("SIGINT", () => go(130));
	try {
		return await terminal.question(question);
	} finally {
		terminal.close();
	}
}

function sink(stream: NodeJS.WriteStream): World["stdout"] {
	return {
		isTTY: stream.isTTY === true,
		get columns() {
			return stream.columns || 80;
		},
		get rows() {
			return stream.rows;
		},
		write: (text) => void stream.write(text),
	};
}

/** Resolves when all has been written, or cannot be. */
function flushed(stream: NodeJS.WriteStream): Promise<void> {
	return new Promise((resolve) => {
		if (stream.destroyed) resolve();
		else stream.write("", () => resolve());
	});
}
