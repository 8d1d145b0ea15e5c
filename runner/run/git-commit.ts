import { spawnSync } from "node:child_process";
import path from "node:path";
import type { GitCommit } from "../model/environment-file.ts";
import type { World } from "../world.ts";

/**
 * The commit that a scenario file belongs to, by the command `git`; null: it lies in no work tree, or nobody can tell. A CI job knows its
 * commit where there is no git; where there is, its work tree may be at another one. Never throws: what a run measures does not depend on it.
 */
export function gitCommitOf(
	scenarioFile: string,
	env: World["env"],
): GitCommit | null {
	const git = gitIn(path.dirname(scenarioFile), env);
	const head = git("rev-parse", "--verify", "HEAD");
	const known = [env.GITHUB_SHA, env.CI_COMMIT_SHA].find(isCommit);
	const commit = head?.trim() ?? known;
	if (!isCommit(commit)) return null;
	return {
		commit: commit.toLowerCase(),
		dirty: head === null ? null : dirty(),
	};

	/** Tracked files that differ from HEAD; a scenario that git does not track is in no commit at all. */
	function dirty(): boolean | null {
		const changed = git("status", "--porcelain", "--untracked-files=no");
		if (changed === null) return null;
		const tracked = git("ls-files", "--", path.basename(scenarioFile));
		return changed !== "" || tracked === "";
	}
}

// --- internal ---

/** Its output, of a very long one the first part; null: there is no git, no work tree, or it took too long. */
type Git = (...args: string[]) => string | null;

/** Each waits for it, and mqbench does nothing else meanwhile. */
const LONGEST_MS = 2000;

function gitIn(cwd: string, env: World["env"]): Git {
	// A hook that starts mqbench has set GIT_DIR: that would be another repository than the scenario's.
	const own = Object.entries(env).filter(([name]) => !name.startsWith("GIT_"));
	return (...args) => {
		const done = spawnSync(
			"git",
			// Only looks: writes no index, and starts no file system monitor. Filters of the repository (Git LFS) do run, as with any `git status`.
			[
				...["--no-optional-locks", "--literal-pathspecs"],
				...["-c", "core.fsmonitor=false", ...args],
			],
			{
				cwd,
				env: Object.fromEntries(own),
				encoding: "utf8",
				stdio: ["ignore", "pipe", "ignore"],
				...{ timeout: LONGEST_MS, killSignal: "SIGKILL" },
			},
		);
		const long =
			done.error !== undefined &&
			"code" in done.error &&
			done.error.code === "ENOBUFS";
		return done.status === 0 || long ? done.stdout : null;
	};
}

function isCommit(text: string | undefined): text is string {
	return text !== undefined && /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/i.test(text);
}
