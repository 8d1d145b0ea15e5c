import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { packageFolder } from "../../package.ts";
import { fakeGitHub, type GitHub, REPOSITORY, TOKEN } from "./github.fake.ts";

const SHA = "0123456789abcdef0123456789abcdef01234567";
const FORK = 77;
const MARKER = "<!-- mqbench:orders -->";
const BOT = { login: "github-actions[bot]" };

test("creates the comment of a pull request, with its marker first and where it comes from", async () => {
	const github = await server();
	const { code, out } = await comment(github, artifact());
	expect(out).toBe("#7: https://github.test/c/1000\n");
	expect(code).toBe(0);
	expect(github.comments).toHaveLength(1);
	const [made] = github.comments;
	expect(made?.issue).toBe(7);
	expect(made?.body.split("\n")).toEqual([
		MARKER,
		"<sub>Measured on 0123456789ab, [the whole run](https://github.test/run/1).</sub>",
		"",
		"# orders: PASS",
		"",
	]);
});

test("updates its comment when there is one", async () => {
	const github = await server();
	await comment(github, artifact());
	const again = artifact({ text: `${MARKER}\n# orders: FAIL\n` });
	expect((await comment(github, again)).code).toBe(0);
	expect(github.comments).toHaveLength(1);
	expect(github.comments[0]?.body).toContain("# orders: FAIL");
	expect(github.comments[0]?.body).not.toContain("PASS");
});

test("leaves alone what others wrote, also with its marker, and the comments of other scenarios", async () => {
	const github = await server();
	const others = [
		{ user: { login: "mallory" }, body: `${MARKER}\nmine` },
		{ user: BOT, body: "<!-- mqbench:payments -->\nanother scenario" },
		{ user: BOT, body: `quoted:\n${MARKER}` },
		{ user: BOT, body: "<!-- mqbench:orders-eu -->\nlonger name" },
	];
	for (const [i, one] of others.entries()) github.comments.push({ id: i, issue: 7, ...one });
	const before = others.map(({ body }) => body);
	await comment(github, artifact());
	expect(github.comments.slice(0, 4).map(({ body }) => body)).toEqual(before);
	expect(github.comments).toHaveLength(5);
});

test("finds its comment on the third page", async () => {
	const github = await server();
	for (let i = 0; i < 250; i++)
		github.comments.push({ id: i, issue: 7, user: BOT, body: `number ${i}` });
	(github.comments[240] as { body: string }).body = `${MARKER}\nold`;
	expect((await comment(github, artifact())).code).toBe(0);
	expect(github.comments).toHaveLength(250);
	expect(github.comments[240]?.body).toContain("# orders: PASS");
	expect(github.requests.filter((one) => one.startsWith("GET"))).toHaveLength(4);
});

test("creates its comment after exactly one page of others", async () => {
	const github = await server();
	for (let i = 0; i < 100; i++)
		github.comments.push({ id: i, issue: 7, user: BOT, body: `number ${i}` });
	expect((await comment(github, artifact())).code).toBe(0);
	expect(github.comments).toHaveLength(101);
});

test("writes one comment for each artifact", async () => {
	const github = await server();
	const folder = temporary();
	for (const name of ["orders", "payments"])
		artifact({
			folder: path.join(folder, `mqbench-comment-${name}`),
			text: `<!-- mqbench:${name} -->\n# ${name}\n`,
		});
	expect((await comment(github, folder)).code).toBe(0);
	expect(github.comments.map(({ body }) => body.split("\n")[0])).toEqual([
		MARKER,
		"<!-- mqbench:payments -->",
	]);
});

test("one bad artifact does not keep the others from being written, and fails the step", async () => {
	const github = await server();
	const folder = temporary();
	artifact({ folder: path.join(folder, "a"), number: "../8" });
	artifact({ folder: path.join(folder, "b") });
	const { code, out } = await comment(github, folder);
	expect(code).toBe(1);
	expect(out).toContain("pull-request.txt does not hold a number");
	expect(github.comments).toHaveLength(1);
});

test("without an artifact nothing is written, and that is no failure", async () => {
	const github = await server();
	const { code, out } = await comment(github, path.join(temporary(), "none"));
	expect(code).toBe(0);
	expect(out).toContain("::notice");
	expect(github.requests).toEqual([]);
});

test.each([
	["another commit", { sha: "f".repeat(40), repository: FORK }],
	["the same commit in another repository", { sha: SHA, repository: 1 }],
	["the same commit of a deleted fork", { sha: SHA, repository: null }],
])("a fork that names somebody else's pull request, %s, writes nothing", async (_what, victim) => {
	const github = await server();
	github.pulls.set(8, victim);
	const { code, out } = await comment(github, artifact({ number: "8" }));
	expect(out).toContain("#8 is not written to");
	expect(code).toBe(0);
	expect(github.requests).toEqual([`GET /repos/${REPOSITORY}/pulls/8`]);
	expect(github.comments).toEqual([]);
});

test("a pull request that does not exist fails", async () => {
	const github = await server();
	const { code, out } = await comment(github, artifact({ number: "404" }));
	expect(out).toContain("There is no pull request #404 here.");
	expect(code).toBe(1);
});

/** The step of so many artifacts, each with one of these. */
async function refused(parts: readonly { number?: string; text?: string }[]) {
	const github = await server();
	const folder = temporary();
	for (const [i, part] of parts.entries())
		artifact({ folder: path.join(folder, `mqbench-comment-${i}`), ...part });
	const { code, out } = await comment(github, folder);
	expect(code).toBe(1);
	expect(github.requests).toEqual([]);
	// The last line counts them.
	return out.trimEnd().split("\n").slice(0, -1);
}

test("what is no number of a pull request is none, and nothing is asked", async () => {
	const parts = ["", "7/../8", "7\n8", "0", "7".repeat(21)].map((number) => ({ number }));
	const lines = await refused(parts);
	expect(lines).toHaveLength(parts.length);
	for (const line of lines.slice(0, -1))
		expect(line).toContain("pull-request.txt does not hold a number");
	expect(lines.at(-1)).toContain("pull-request.txt has 21 bytes");
});

test("what is no beginning of a comment is none, and nothing is asked", async () => {
	const parts = [
		"",
		"# orders\n",
		" <!-- mqbench:orders -->\n",
		"<!-- mqbench: -->\n",
		"<!-- mqbench:a b -->\n",
		"<!-- mqbench:a --><script> -->\n",
		"<!-- other:orders -->\n",
	].map((text) => ({ text }));
	const lines = await refused(parts);
	expect(lines).toHaveLength(parts.length);
	for (const line of lines) expect(line).toContain("does not begin with a line");
});

test("a link out of the artifact is not followed", async () => {
	const github = await server();
	const secret = path.join(temporary(), "secret");
	writeFileSync(secret, `${MARKER}\na secret of the runner\n`);
	const folder = artifact();
	rmSync(path.join(folder, "comment.md"));
	symlinkSync(secret, path.join(folder, "comment.md"));
	const { code, out } = await comment(github, folder);
	expect(out).toContain("comment.md cannot be read: ELOOP");
	expect(code).toBe(1);
	// A folder that is a link is none of the artifacts.
	const linked = temporary();
	symlinkSync(artifact(), path.join(linked, "mqbench-comment-x"));
	await comment(github, linked);
	expect(github.comments).toEqual([]);
});

test("a file of 300 kB is not read", async () => {
	const github = await server();
	const text = `${MARKER}\n${"x".repeat(300_000)}`;
	const { code, out } = await comment(github, artifact({ text }));
	expect(out).toContain("at most 262144 are taken");
	expect(code).toBe(1);
	expect(github.requests).toEqual([]);
});

test.each([
	["of plain lines", "twelve chars\n".repeat(6_000)],
	["of one line", "x".repeat(70_000)],
	["of mentions", "@a ".repeat(30_000)],
	["of emoji", "🐇".repeat(40_000)],
])("a report too long for GitHub, %s, is cut to fit", async (_what, long) => {
	const github = await server();
	const { code, out } = await comment(github, artifact({ text: `${MARKER}\n${long}` }));
	expect(out).toContain("#7: ");
	expect(code).toBe(0);
	const body = github.comments[0]?.body ?? "";
	expect(body.length).toBeLessThanOrEqual(65_536);
	expect(body.length).toBeGreaterThan(65_000);
	expect(Buffer.from(body).toString()).toBe(body);
	expect(body).toMatch(
		/\(Cut here: \[the run\]\(https:\/\/github\.test\/run\/1\) has the whole report\.\)\n$/,
	);
});

test("nobody is mentioned, and control characters are gone", async () => {
	const github = await server();
	const text = `${MARKER}\nhello @acme/everyone \u0000\u0007 and @x\n`;
	await comment(github, artifact({ text }));
	const body = github.comments[0]?.body ?? "";
	expect(body).not.toMatch(/@[a-z]/);
	expect(body).toContain("hello @\u200bacme/everyone  and @\u200bx\n");
});

test("errors that pass are tried again", async () => {
	const github = await server();
	github.failures.push(
		{ status: 502, on: "/pulls/7" },
		{ status: 0, on: "/pulls/7" },
		{ status: 503, on: "GET /repos/acme/shop/issues/7/comments" },
		{ status: 429, on: "POST" },
	);
	const { code, out } = await comment(github, artifact());
	expect(out).toBe("#7: https://github.test/c/1000\n");
	expect(code).toBe(0);
	expect(github.comments).toHaveLength(1);
});

test("a comment that was created though the answer was an error is not created twice", async () => {
	const github = await server();
	github.failures.push({ status: 502, done: true, on: "POST" });
	expect((await comment(github, artifact())).code).toBe(0);
	expect(github.comments).toHaveLength(1);
	expect(github.requests.at(-1)).toBe(`PATCH /repos/${REPOSITORY}/issues/comments/1000`);
});

test("errors that do not pass fail after four tries, with GitHub's words and without the token", async () => {
	const github = await server();
	for (let i = 0; i < 9; i++) github.failures.push({ status: 500 });
	const { code, out, err } = await comment(github, artifact());
	expect(code).toBe(1);
	expect(out).toContain("GitHub answers 500");
	expect(github.requests).toHaveLength(4);
	expect(out + err).not.toContain(TOKEN);
});

test("a token that may not write fails at once, with the permissions that are needed", async () => {
	const github = await server();
	github.failures.push({ status: 403, on: "POST" });
	const { code, out } = await comment(github, artifact());
	expect(out).toContain("pull-requests: write, actions: read");
	expect(code).toBe(1);
	expect(github.requests.filter((one) => one.startsWith("POST"))).toHaveLength(1);
});

test("after a push there is no pull request to write to", async () => {
	const github = await server();
	const { code, out } = await comment(github, artifact(), { event: "push" });
	expect(out).toContain("on: workflow_run");
	expect(code).toBe(1);
	expect(github.requests).toEqual([]);
});

test("what an artifact says cannot begin a workflow command", async () => {
	const github = await server();
	github.failures.push({ status: 403 });
	const { out } = await comment(github, artifact({ number: "7" }));
	expect(out.trimEnd().split("\n")).toHaveLength(2);
	for (const line of out.trimEnd().split("\n"))
		expect(line).toMatch(/^::error title=mqbench comment::/);
});

// --- internal ---

async function server(): Promise<GitHub> {
	const github = await fakeGitHub();
	github.pulls.set(7, { sha: SHA, repository: FORK });
	return github;
}

function temporary(): string {
	const folder = mkdtempSync(path.join(tmpdir(), "mqbench-ci-"));
	onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
	return folder;
}

/** A folder as download-artifact leaves it. */
function artifact({
	folder = temporary(),
	number = "7",
	text = `${MARKER}\n# orders: PASS\n`,
} = {}): string {
	mkdirSync(folder, { recursive: true });
	writeFileSync(path.join(folder, "pull-request.txt"), number);
	writeFileSync(path.join(folder, "comment.md"), text);
	return folder;
}

async function comment(
	github: GitHub,
	folder: string,
	run: Readonly<Record<string, unknown>> = {},
): Promise<{ code: number | null; out: string; err: string }> {
	const event = path.join(temporary(), "event.json");
	const workflowRun = {
		event: "pull_request",
		head_sha: SHA,
		head_repository: { id: FORK },
		html_url: "https://github.test/run/1",
		...run,
	};
	writeFileSync(event, JSON.stringify({ workflow_run: workflowRun }));
	const script = path.join(packageFolder, ".github/actions/comment/comment.mjs");
	const child = spawn(process.execPath, [script], {
		env: {
			PATH: process.env.PATH,
			GITHUB_API_URL: github.url,
			GITHUB_REPOSITORY: REPOSITORY,
			GITHUB_EVENT_PATH: event,
			INPUT_PATH: folder,
			INPUT_TOKEN: TOKEN,
			INPUT_AUTHOR: BOT.login,
			MQBENCH_RETRY_MS: "1",
		},
		stdio: ["ignore", "pipe", "pipe"],
	});
	let out = "";
	let err = "";
	child.stdout.on("data", (piece) => (out += piece));
	child.stderr.on("data", (piece) => (err += piece));
	const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
	return { code, out, err };
}
