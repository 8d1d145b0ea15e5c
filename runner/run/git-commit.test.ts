import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { gitCommitOf } from "./git-commit.ts";

const SHA = "0123456789abcdef0123456789abcdef01234567";

/** An unconfigured git, outside the repository of these tests. */
const ENV = {
	PATH: process.env.PATH,
	HOME: "/nowhere",
	GIT_CONFIG_NOSYSTEM: "1",
	GIT_AUTHOR_NAME: "a",
	GIT_AUTHOR_EMAIL: "a@example.org",
	GIT_COMMITTER_NAME: "a",
	GIT_COMMITTER_EMAIL: "a@example.org",
};

/** A work tree with one commit of bench/a.yaml and other.txt. */
function workTree() {
	const cwd = testFolder();
	const git = (...args: string[]) =>
		execFileSync("git", args, { cwd, env: ENV, encoding: "utf8" }).trim();
	mkdirSync(path.join(cwd, "bench"));
	const scenario = path.join(cwd, "bench", "a.yaml");
	writeFileSync(scenario, "system: nats\n");
	writeFileSync(path.join(cwd, "other.txt"), "1\n");
	git("init", "--quiet");
	git("add", ".");
	git("commit", "--quiet", "-m", "first");
	return { cwd, git, scenario, head: git("rev-parse", "HEAD") };
}

test("a scenario of a work tree has its commit, whole", async () => {
	const { scenario, head } = workTree();
	expect(head).toHaveLength(40);
	expect(await gitCommitOf(scenario, ENV)).toEqual({ commit: head, dirty: false });
});

test("a tracked file anywhere in the tree makes it dirty, what git does not track does not", async () => {
	const { cwd, scenario, head } = workTree();
	mkdirSync(path.join(cwd, "reports"));
	writeFileSync(path.join(cwd, "reports", "result.json"), "{}");
	expect((await gitCommitOf(scenario, ENV))?.dirty).toBe(false);
	writeFileSync(path.join(cwd, "other.txt"), "2\n");
	expect(await gitCommitOf(scenario, ENV)).toEqual({ commit: head, dirty: true });
});

test.each(["b.yaml", "*.yaml", ":(top)other.txt"])(
	"a scenario that is in no commit is dirty: %s",
	async (name) => {
		const { cwd } = workTree();
		const file = path.join(cwd, "bench", name);
		writeFileSync(file, "system: nats\n");
		expect((await gitCommitOf(file, ENV))?.dirty).toBe(true);
	},
);

test("a repository that the environment names is not the scenario's", async () => {
	const { scenario, head } = workTree();
	const env = { ...ENV, GIT_DIR: path.join(workTree().cwd, ".git") };
	expect((await gitCommitOf(scenario, env))?.commit).toBe(head);
});

test("what a job says is not measured where the work tree is at another commit", async () => {
	const { cwd, scenario, head } = workTree();
	const env = { ...ENV, GITHUB_SHA: SHA };
	expect(await gitCommitOf(scenario, env)).toEqual({ commit: head, dirty: false });
	writeFileSync(path.join(cwd, "other.txt"), "2\n");
	expect((await gitCommitOf(scenario, env))?.dirty).toBe(true);
});

test("a job without git, or without a work tree, knows its commit all the same", async () => {
	const lonely = path.join(testFolder(), "a.yaml");
	const known = { commit: SHA, dirty: null };
	expect(await gitCommitOf(lonely, { ...ENV, GITHUB_SHA: SHA })).toEqual(known);
	const { scenario } = workTree();
	const env = { PATH: testFolder(), CI_COMMIT_SHA: SHA };
	expect(await gitCommitOf(scenario, env)).toEqual(known);
});

test("a git that takes long, and heeds no signal, is not waited for", async () => {
	const { cwd, scenario, head } = workTree();
	const over = path.join(cwd, "over");
	const bin = testFolder();
	const real = `PATH='${ENV.PATH}' exec git "$@"`;
	const slow = `trap "" TERM; sleep 6; : > '${over}'; exit 1`;
	const script = `#!/bin/sh\ncase "$*" in *status*) ${slow} ;; *) ${real} ;; esac\n`;
	writeFileSync(path.join(bin, "git"), script, { mode: 0o755 });
	const env = { ...ENV, PATH: `${bin}${path.delimiter}${ENV.PATH}` };
	expect(await gitCommitOf(scenario, env)).toEqual({ commit: head, dirty: null });
	expect(existsSync(over)).toBe(false);
}, 30_000);

test("what is no commit is none, and nothing fails without git, tree, commit or folder", async () => {
	const folder = testFolder();
	const lonely = path.join(folder, "a.yaml");
	expect(await gitCommitOf(lonely, { ...ENV, GITHUB_SHA: "main" })).toBeNull();
	expect(await gitCommitOf(lonely, { PATH: folder })).toBeNull();
	expect(await gitCommitOf(path.join(folder, "no", "a.yaml"), ENV)).toBeNull();
	execFileSync("git", ["init", "--quiet"], { cwd: folder, env: ENV });
	expect(await gitCommitOf(lonely, ENV)).toBeNull();
});
