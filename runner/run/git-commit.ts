import path from "node:path";
import { answerOf } from "../../infra/program-answer.ts";
import type { GitCommit } from "../model/environment-file.ts";
import type { World } from "../world.ts";

/**
 * The commit that a scenario file belongs to, by the command `git`; null: it lies in no work tree, or nobody can tell. A CI job knows its
 * commit where there is no git; where there is, its work tree may be at another one. Never throws: what a run measures does not depend on it.
 */
export async function gitCommitOf(
	scenarioFile: string,
	env: World["env"],
): Promise<GitCommit | null> {
	const git = gitIn(path.dirname(scenarioFile), env);
	const [head, changed, tracked] = await Promise.all([
		git("rev-parse", "--verify", "HEAD"),
		git("status", "--porcelain", "--untracked-files=no"),
		git("ls-files", "--", path.basename(scenarioFile)),
	]);
	const known = [env.GITHUB_SHA, env.CI_COMMIT_SHA].find(isCommit);
	const commit = head?.trim() ?? known;
	if (!isCommit(commit)) return null;
	// Tracked files that differ from HEAD; a scenario that git does not track is in no commit at all.
	const dirty = head === null || changed === null ? null : changed !== "" || tracked === "";
	return { commit: commit.toLowerCase(), dirty };
}

// --- internal ---

/** Its output; null: there is no git, no work tree, or it took too long. */
type Git = (...args: string[]) => Promise<string | null>;

/** A run begins when they have answered. */
const LONGEST_MS = 2000;

function gitIn(cwd: string, env: World["env"]): Git {
	// A hook that starts mqbench has set GIT_DIR: that would be another repository than the scenario's.
	const own = Object.entries(env).filter(([name]) => !name.startsWith("GIT_"));
	const asked = { cwd, env: Object.fromEntries(own), longestMs: LONGEST_MS };
	// Only looks: writes no index, and starts no file system monitor. Filters of the repository (Git LFS) do run, as with any `git status`.
	const only = ["--no-optional-locks", "--literal-pathspecs"];
	return (...args) => answerOf("git", [...only, "-c", "core.fsmonitor=false", ...args], asked);
}

function isCommit(text: string | undefined): text is string {
	return text !== undefined && /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/i.test(text);
}
