import { spawn } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { text as readAll } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { ACTIONS, temporaryFolder } from "./action.fake.ts";

const SHA = "0123456789abcdef0123456789abcdef01234567";
const FORK = 77;
const MARKER = "<!-- mqbench:orders -->";
const BOT = { login: "github-actions[bot]" };
const REPOSITORY = "/repos/acme/shop";
const TOKEN = "a-token-of-the-test";

test("creates the comment of a pull request, with its marker first and where it comes from; later it updates that one", async () => {
	const github = await fakeGitHub();
	const { code, out } = await comment(github, artifact());
	expect([code, out]).toEqual([0, "#7: https://github.test/c/1000\n"]);
	expect(bodies(github)).toEqual([
		`${MARKER}\n<sub>Measured on 0123456789ab, [the whole run](https://github.test/run/1).</sub>\n\n# orders: PASS\n`,
	]);
	await comment(github, artifact({ text: `${MARKER}\n# orders: FAIL\n` }));
	expect(bodies(github)).toEqual([expect.stringMatching(/^(?![\s\S]*PASS)[\s\S]*# orders: FAIL/)]);
});

test("leaves alone what others wrote, also with its marker, and the comments of other scenarios", async () => {
	const others = [
		{ user: { login: "mallory" }, body: `${MARKER}\nmine` },
		{ user: BOT, body: "<!-- mqbench:payments -->\nanother scenario" },
		{ user: BOT, body: `quoted:\n${MARKER}` },
		{ user: BOT, body: "<!-- mqbench:orders-eu -->\nlonger name" },
	];
	const github = await fakeGitHub({ comments: others });
	const before = bodies(github);
	await comment(github, artifact());
	expect(bodies(github).slice(0, 4)).toEqual(before);
	expect(github.comments).toHaveLength(5);
});

test.each([
	["finds its comment on the third page", 250, 240, 250],
	["creates its comment after exactly one page of others", 100, null, 101],
])("%s", async (_, n, ours, after) => {
	const comments = Array.from({ length: n }, (_, i) => ({
		user: BOT,
		body: i === ours ? `${MARKER}\nold` : `number ${i}`,
	}));
	const github = await fakeGitHub({ comments });
	expect((await comment(github, artifact())).code).toBe(0);
	expect(github.comments).toHaveLength(after);
	expect(bodies(github)[ours ?? n]).toContain("# orders: PASS");
});

test("writes one comment for each artifact; a bad one does not keep the others from being written, and fails the step", async () => {
	const github = await fakeGitHub();
	const folder = temporaryFolder();
	artifact({ folder: path.join(folder, "a"), number: "../8" });
	for (const name of ["orders", "payments"])
		artifact({ folder: path.join(folder, name), text: `<!-- mqbench:${name} -->\n# ${name}\n` });
	const { code, out } = await comment(github, folder);
	expect(code).toBe(1);
	expect(out).toContain("pull-request.txt does not hold a number");
	expect(bodies(github).map((body) => body.split("\n")[0])).toEqual([
		MARKER,
		"<!-- mqbench:payments -->",
	]);
});

test.each([
	["without an artifact", () => path.join(temporaryFolder(), "none"), {}, 0, "::notice"],
	["after a push", () => artifact(), { event: "push" }, 1, "on: workflow_run"],
])("%s nothing is written", async (_, folder, run, exit, words) => {
	const github = await fakeGitHub();
	const { code, out } = await comment(github, folder(), run);
	expect(code).toBe(exit);
	expect(out).toContain(words);
	expect(github.requests).toEqual([]);
});

test.each([
	["somebody else's pull request, another commit", { sha: "f".repeat(40), repository: FORK }, 0],
	["the same commit in another repository", { sha: SHA, repository: 1 }, 0],
	["the same commit of a deleted fork", { sha: SHA, repository: null }, 0],
	["a pull request that does not exist", null, 1],
])("a fork that names %s writes nothing", async (_what, pull, exit) => {
	const github = await fakeGitHub({ pulls: pull ? { 8: pull } : {} });
	const { code, out } = await comment(github, artifact({ number: "8" }));
	expect(code).toBe(exit);
	expect(out).toContain(pull ? "#8 is not written to" : "There is no pull request #8 here.");
	expect(github.requests).toEqual([`GET ${REPOSITORY}/pulls/8`]);
});

test("artifacts of another form are refused, and nothing is asked", async () => {
	const number = "pull-request.txt does not hold a number";
	const marker = "does not begin with a line";
	const parts: [{ number?: string; text?: string }, string][] = [
		...["", "7/../8", "7\n8", "0"].map((of): [object, string] => [{ number: of }, number]),
		[{ number: "7".repeat(21) }, "pull-request.txt has 21 bytes"],
		...[
			"",
			"# orders\n",
			" <!-- mqbench:orders -->\n",
			"<!-- mqbench: -->\n",
			"<!-- mqbench:a b -->\n",
			"<!-- mqbench:a --><script> -->\n",
			"<!-- other:orders -->\n",
		].map((text): [object, string] => [{ text }, marker]),
		[{ text: `${MARKER}\n${"x".repeat(300_000)}` }, "at most 262144 are taken"],
	];
	const github = await fakeGitHub();
	const folder = temporaryFolder();
	for (const [i, [part]] of parts.entries())
		artifact({ folder: path.join(folder, `${i + 100}`), ...part });
	const { code, out } = await comment(github, folder);
	expect(code).toBe(1);
	// The last line counts them.
	expect(out.trimEnd().split("\n").slice(0, -1)).toEqual(
		parts.map(([, words]) => expect.stringContaining(words)),
	);
	expect(github.requests).toEqual([]);
});

test("a link out of the artifact is not followed", async () => {
	const github = await fakeGitHub();
	const secret = path.join(temporaryFolder(), "secret");
	writeFileSync(secret, `${MARKER}\na secret of the runner\n`);
	const folder = artifact();
	rmSync(path.join(folder, "comment.md"));
	symlinkSync(secret, path.join(folder, "comment.md"));
	const { code, out } = await comment(github, folder);
	expect(out).toContain("comment.md cannot be read: ELOOP");
	expect(code).toBe(1);
	// A folder that is a link is none of the artifacts.
	const linked = temporaryFolder();
	symlinkSync(artifact(), path.join(linked, "mqbench-comment-x"));
	await comment(github, linked);
	expect(github.comments).toEqual([]);
});

test.each([
	["of plain lines", "twelve chars\n".repeat(6_000)],
	["of one line", "x".repeat(70_000)],
	["of mentions", "@a ".repeat(30_000)],
	["of emoji", "🐇".repeat(40_000)],
])("a report too long for GitHub, %s, is cut to fit", async (_what, long) => {
	const github = await fakeGitHub();
	const { code } = await comment(github, artifact({ text: `${MARKER}\n${long}` }));
	expect(code).toBe(0);
	const [body = ""] = bodies(github);
	expect(body.length).toBeLessThanOrEqual(65_536);
	expect(body.length).toBeGreaterThan(65_000);
	expect(Buffer.from(body).toString()).toBe(body);
	expect(body).toMatch(
		/\(Cut here: \[the run\]\(https:\/\/github\.test\/run\/1\) has the whole report\.\)\n$/,
	);
});

test("nobody is mentioned, and control characters are gone", async () => {
	const github = await fakeGitHub();
	await comment(
		github,
		artifact({ text: `${MARKER}\nhello @acme/everyone \u0000\u0007 and @x\n` }),
	);
	expect(bodies(github)[0]).toContain("hello @\u200bacme/everyone  and @\u200bx\n");
});

test("errors that pass are tried again, and a comment that was created though the answer was an error is not created twice", async () => {
	const github = await fakeGitHub();
	github.failures.push(
		{ status: 502, on: "/pulls/7" },
		{ status: 0, on: "/pulls/7" },
		{ status: 503, on: `GET ${REPOSITORY}/issues/7/comments` },
		{ status: 429, on: "POST" },
		{ status: 502, on: "POST", done: true },
	);
	expect((await comment(github, artifact())).code).toBe(0);
	expect(github.comments).toHaveLength(1);
	expect(github.requests.at(-1)).toBe(`PATCH ${REPOSITORY}/issues/comments/1000`);
});

test("errors that do not pass fail after four tries, with GitHub's words and without the token", async () => {
	const github = await fakeGitHub();
	for (let i = 0; i < 9; i++) github.failures.push({ status: 500, on: "" });
	const { code, out } = await comment(github, artifact());
	expect(code).toBe(1);
	expect(out).toContain("GitHub answers 500");
	expect(github.requests).toHaveLength(4);
	expect(out).not.toContain(TOKEN);
});

test("a token that may not write fails at once, with the permissions that are needed, and no words of an answer begin a workflow command", async () => {
	const github = await fakeGitHub();
	github.failures.push({ status: 403, on: "POST" });
	const { code, out } = await comment(github, artifact());
	expect(out).toContain("pull-requests: write, actions: read");
	expect(code).toBe(1);
	expect(github.requests.filter((one) => one.startsWith("POST"))).toHaveLength(1);
	const lines = out.trimEnd().split("\n");
	expect(lines).toHaveLength(2);
	for (const line of lines) expect(line).toMatch(/^::error title=mqbench comment::/);
});

// --- internal ---

interface Comment {
	readonly user: { readonly login: string };
	body: string;
}

interface Pull {
	readonly sha: string;
	/** Id of the repository that its head is in; null: deleted. */
	readonly repository: number | null;
}

interface GitHub {
	readonly url: string;
	/** "GET /repos/o/r/pulls/7", in their order. */
	readonly requests: string[];
	readonly comments: (Comment & { readonly id: number })[];
	/** Answers of the next requests whose line has this in it: an HTTP status, 0 to hang up, and whether it is done all the same. */
	readonly failures: { status: number; on: string; done?: boolean }[];
}

/** The part of GitHub's API that comments of pull requests need, for one repository, whose pull request 7 is what was measured. */
async function fakeGitHub({
	comments: before = [],
	pulls = {},
}: {
	readonly comments?: readonly Comment[];
	readonly pulls?: Readonly<Record<number, Pull>>;
} = {}): Promise<GitHub> {
	const requests: string[] = [];
	const comments = before.map((one, id) => ({ ...one, id }));
	const failures: GitHub["failures"] = [];
	const known: Readonly<Record<string, Pull>> = { 7: { sha: SHA, repository: FORK }, ...pulls };
	const server = createServer(async (request, response) => {
		const text = await readAll(request);
		const url = new URL(request.url ?? "", "http://x");
		const line = `${request.method} ${url.pathname}`;
		requests.push(line);
		const failing = failures.findIndex(({ on }) => line.includes(on));
		const failure = failing < 0 ? undefined : failures.splice(failing, 1)[0];
		const answer = (status: number, value: unknown) => {
			if (failure?.status === 0) return void request.socket.destroy();
			response.writeHead(failure?.status ?? status, { "content-type": "application/json" });
			response.end(JSON.stringify(value));
		};
		if (request.headers.authorization !== `Bearer ${TOKEN}`)
			return answer(401, { message: "Bad credentials" });
		if (failure && !failure.done) return answer(500, { message: "::error::unhappy\n::error::" });
		const pull = known[/\/pulls\/(\d+)$/.exec(line)?.[1] ?? ""];
		if (pull) {
			const repo = pull.repository === null ? null : { id: pull.repository };
			return answer(200, { head: { sha: pull.sha, repo } });
		}
		if (line === `GET ${REPOSITORY}/issues/7/comments`) {
			const [page, per] = ["page", "per_page"].map((name) => Number(url.searchParams.get(name)));
			return answer(200, comments.slice(((page ?? 1) - 1) * (per ?? 0), (page ?? 1) * (per ?? 0)));
		}
		if (request.method === "GET") return answer(404, { message: "Not Found" });
		const { body } = JSON.parse(text) as { body: string };
		if ([...body].length > 65_536) return answer(422, { message: "Body is too long" });
		const id = Number(/\/comments\/(\d+)$/.exec(line)?.[1] ?? 1000 + comments.length);
		const old = comments.find((one) => one.id === id);
		if (old) old.body = body;
		else comments.push({ id, user: BOT, body });
		answer(200, { html_url: `https://github.test/c/${id}` });
	});
	await new Promise<void>((up) => server.listen(0, "127.0.0.1", up));
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	const { port } = server.address() as AddressInfo;
	return { url: `http://127.0.0.1:${port}`, requests, comments, failures };
}

function bodies({ comments }: GitHub): string[] {
	return comments.map(({ body }) => body);
}

/** A folder as download-artifact leaves it. */
function artifact({
	folder = temporaryFolder(),
	number = "7",
	text = `${MARKER}\n# orders: PASS\n`,
} = {}): string {
	mkdirSync(folder, { recursive: true });
	writeFileSync(path.join(folder, "pull-request.txt"), number);
	writeFileSync(path.join(folder, "comment.md"), text);
	return folder;
}

async function comment(github: GitHub, folder: string, run: object = {}) {
	const event = path.join(temporaryFolder(), "event.json");
	const workflowRun = {
		event: "pull_request",
		head_sha: SHA,
		head_repository: { id: FORK },
		html_url: "https://github.test/run/1",
		...run,
	};
	writeFileSync(event, JSON.stringify({ workflow_run: workflowRun }));
	const child = spawn(process.execPath, [path.join(ACTIONS, "comment/comment.mjs")], {
		env: {
			PATH: process.env.PATH,
			GITHUB_API_URL: github.url,
			GITHUB_REPOSITORY: REPOSITORY.replace("/repos/", ""),
			GITHUB_EVENT_PATH: event,
			INPUT_PATH: folder,
			INPUT_TOKEN: TOKEN,
			INPUT_AUTHOR: BOT.login,
			MQBENCH_RETRY_MS: "1",
		},
		stdio: ["ignore", "pipe", "pipe"],
	});
	let out = "";
	for (const stream of [child.stdout, child.stderr])
		stream.on("data", (piece) => {
			out += piece;
		});
	const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
	return { code, out };
}
