import { expect, test } from "vitest";
import { EnvironmentFile, type GitCommit } from "../model/environment-file.ts";
import { readEnvironment, resumedEnvironment } from "../run/environment.ts";
import { commitAt, commitsOf, commitText } from "./commit.ts";

const commit = (digit: string, dirty: boolean | null = false): GitCommit => ({
	commit: digit.repeat(40),
	dirty,
});
const at = (hour: number, git: GitCommit | null) =>
	readEnvironment(new Date(Date.UTC(2026, 0, 2, hour)).toISOString(), { k6: "v2.1.0", git });

test("a run has the commit of the command that made it", () => {
	const environment = EnvironmentFile.parse(
		resumedEnvironment(resumedEnvironment(at(1, commit("a")), at(3, commit("b"))), at(5, null)),
	);
	const made = (startedAt: string | null) => commitAt(environment, startedAt);
	expect(made("2026-01-02T02:00:00.000Z")).toEqual(commit("a"));
	expect(made(null)).toEqual(commit("a"));
	expect(made("2026-01-02T04:00:00.000Z")).toEqual(commit("b"));
	expect(made("2026-01-02T06:00:00.000Z")).toBeNull();
	expect(commitsOf(environment)).toEqual([commit("a"), commit("b")]);
});

test("of several commands at one commit it is told once; a dirty one is another", () => {
	const clean = resumedEnvironment(at(1, commit("a")), at(2, commit("a")));
	expect(commitsOf(clean)).toEqual([commit("a")]);
	const later = resumedEnvironment(clean, at(3, commit("a", true)));
	expect(commitsOf(later)).toHaveLength(2);
});

test("without a repository, or a word of the machine, there is none", () => {
	expect(commitsOf(at(1, null))).toEqual([]);
	expect(at(1, null)).not.toHaveProperty("git");
	expect(commitsOf(null)).toEqual([]);
	expect(commitAt(null, null)).toBeNull();
});

test.each([
	[commit("a"), "aaaaaaaaaaaa"],
	[commit("a", true), "aaaaaaaaaaaa with uncommitted changes"],
	[commit("a", null), "aaaaaaaaaaaa (not checked whether files differ)"],
])("%j is %j for people", (git, text) => {
	expect(commitText(git)).toBe(text);
});
