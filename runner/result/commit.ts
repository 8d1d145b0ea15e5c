import type { EnvironmentFile, GitCommit } from "../model/environment-file.ts";

/** The commit of the last command that had begun when the run did. */
export function commitAt(environment: EnvironmentFile | null, startedAt: string | null) {
	if (environment === null) return null;
	const later = (environment.resumed ?? []).filter(
		(command) => startedAt !== null && command.startedAt <= startedAt,
	);
	return (later.at(-1) ?? environment).git ?? null;
}

export function commitsOf(environment: EnvironmentFile | null): GitCommit[] {
	const all = [environment, ...(environment?.resumed ?? [])].flatMap(
		(command) => command?.git ?? [],
	);
	return [...new Map(all.map((git) => [commitText(git), git])).values()];
}

/** "0123456789ab with uncommitted changes", "0123456789ab (not checked whether files differ)" */
export function commitText({ commit, dirty }: GitCommit): string {
	const how = dirty === null ? " (not checked whether files differ)" : " with uncommitted changes";
	return `${commit.slice(0, 12)}${dirty === false ? "" : how}`;
}
