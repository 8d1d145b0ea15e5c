#!/usr/bin/env node
import type { World } from "./world.ts";

// The only file that touches process. First of all: a URL with a password on our command line is not to stay in
// the process list.
const argv = process.argv.slice(2);
process.title = "mqbench";

const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
	process.on(signal, () => {
		// The first one ends the run in order; who asks again does not want to wait. The guards end what is left.
		if (stop.signal.aborted) process.exit(signal === "SIGTERM" ? 143 : 130);
		stop.abort(signal);
	});
for (const stream of [process.stdout, process.stderr])
	stream.on("error", (error: NodeJS.ErrnoException) => {
		// Whoever read our output has gone (`mqbench ... | head`): the run goes on, its files matter more.
		if (error.code !== "EPIPE") throw error;
	});

const world: World = {
	stdout: sink(process.stdout),
	stderr: sink(process.stderr),
	cwd: process.cwd(),
	env: process.env,
	clock: {
		nowMs: () => Date.now(),
		monotonicMs: () => performance.now(),
	},
	stop: stop.signal,
};

const { main } = await import("./main.ts");
process.exitCode = await main(argv, world);
// Nothing may keep the process alive once the verdict is out; what was written is flushed first.
await Promise.all(
	[process.stdout, process.stderr].map(
		(stream) =>
			new Promise<void>((resolve) => {
				if (stream.destroyed || stream.writableLength === 0) resolve();
				else stream.once("drain", resolve);
			}),
	),
);
process.exit();

// --- internal ---

function sink(stream: NodeJS.WriteStream): World["stdout"] {
	return {
		isTTY: stream.isTTY === true,
		get columns() {
			return stream.columns || 80;
		},
		write: (text) => void stream.write(text),
	};
}
