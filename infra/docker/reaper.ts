import { spawn } from "node:child_process";
import type { Docker } from "./cli.ts";
import { REAPER } from "./remove.ts";

export interface Reaper {
	/** Nothing is left to do: it ends. Resolves when it has: from then on it removes nothing, whatever happens. */
	dismiss(): Promise<void>;
}

/**
 * Starts a process that removes all with this label as soon as mqbench is gone, kill -9 included: containers are not children of
 * mqbench, so that no agent of theirs could do it. Where there is no sh (Windows) the next command does it instead.
 */
export function startReaper(docker: Docker, label: string): Reaper {
	if (process.platform === "win32") return { async dismiss() {} };
	const child = spawn("sh", ["-c", REAPER, "sh", docker.program, label], {
		env: docker.env,
		cwd: "/",
		stdio: ["pipe", "ignore", "ignore"],
		// A session of its own: neither Ctrl-C nor the end of the terminal reaches it.
		detached: true,
	});
	child.on("error", () => {});
	child.stdin?.on("error", () => {});
	child.unref();
	const ended = new Promise<void>((resolve) => {
		child.once("exit", () => resolve());
		child.once("error", () => resolve());
	});
	return {
		dismiss() {
			child.ref();
			child.stdin?.end("done\n");
			return ended;
		},
	};
}
