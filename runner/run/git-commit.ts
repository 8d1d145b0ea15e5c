import path from "node:path";
import { answerOf } from "../../infra/program-answer.ts";
import type { World } from "../world.ts";

/** The commit of the file's work tree, which may be another than the CI job's; without git the job's. Never throws. */
export async function gitCommitOf(scenarioFile: string, env: World["env"]) {
	const git = gitIn(path.dirname(scenarioFile), env);
	const [head, changed, tracked] = await Promise.all([
		git("rev-parse", "--verify", "HEAD"),
		git("status", "--porcelain", "--untracked-files=no"),
		git("ls-files", "--", path.basename(scenarioFile)),
	]);
	const commit = head?.trim() ?? [env.GITHUB_SHA, env.CI_COMMIT_SHA].find(isCommit);
	if (!isCommit(commit)) return null;
	// True when tracked files differ from HEAD. A scenario that git does not track is in no commit.
	const dirty = head === null || changed === null ? null : changed !== "" || tracked === "";
	return { commit: commit.toLowerCase(), dirty };
}

// --- internal ---

/** Its output, or null without git or a work tree, or after a timeout. */
type Git = (...args: string[]) => Promise<string | null>;
/** A run waits this long for git. */
const LONGEST_MS = 2000;

function gitIn(cwd: string, env: World["env"]): Git {
	// A hook that starts mqbench sets GIT_DIR, which could point to a repository that is not the scenario's.
	const own = Object.entries(env).filter(([name]) => !name.startsWith("GIT_"));
	const asked = { cwd, env: Object.fromEntries(own), longestMs: LONGEST_MS };
	// Read-only: no index is written, no file system monitor starts. Filters (Git LFS) do run, as with any `git status`.
	const only = ["--no-optional-locks", "--literal-pathspecs"];
	return (...args) => answerOf("git", [...only, "-c", "core.fsmonitor=false", ...args], asked);
}

function isCommit(text: string | undefined): text is string {
	return text !== undefined && /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/i.test(text);
}
