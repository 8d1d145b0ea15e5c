import type { EnvironmentFile, GitCommit } from "../model/environment-file.ts";

/** The commit that a run was made at: that of its command, of several the last that had begun by then; null: not known. */
export function commitAt(
	environment: EnvironmentFile | null,
	startedAt: string | null,
): GitCommit | null {
	if (environment === null) return null;
	const later = (environment.resumed ?? []).filter(
		(command) => startedAt !== null && command.startedAt <= startedAt,
	);
	return (later.at(-1) ?? environment).git ?? null;
}

/** Those of all commands that made a result, each once, in their order. */
export function commitsOf(environment: EnvironmentFile | null): GitCommit[] {
	const all = [environment, ...(environment?.resumed ?? [])].flatMap(
		(command) => command?.git ?? [],
	);
	return [...new Map(all.map((git) => [commitText(git), git])).values()];
}

/** For people: "0123456789ab with uncommitted changes", "0123456789ab (not checked whether files differ)". */
export function commitText({ commit, dirty }: GitCommit): string {
	const how = dirty === null ? " (not checked whether files differ)" : " with uncommitted changes";
	return `${commit.slice(0, 12)}${dirty === false ? "" : how}`;
}
