import { spawn } from "node:child_process";
import type { Docker } from "./cli.ts";
import { REAPER } from "./remove.ts";

export interface Reaper {
	/** Ends the reaper because nothing is left to do. After it resolves, the reaper removes nothing. */
	dismiss(): Promise<void>;
}

/**
 * Starts a process that removes everything with this label as soon as mqbench is gone, even after kill -9. Containers are not children of mqbench,
 * so agent cannot do it. Without sh (Windows) the next command does it.
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
