// Creates or updates the comment of a pull request that has been measured. It runs in `workflow_run`, with a token that may
// write; what it reads was made by the code of a pull request, which may be anybody's. So: plain files of a known form and size,
// a pull request that GitHub's API says belongs to the very commit that was measured, and text in which nobody is mentioned.
import {
	closeSync,
	constants,
	existsSync,
	fstatSync,
	openSync,
	readdirSync,
	readFileSync,
	readSync,
} from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const env = process.env;
/** GitHub's limit for a comment, in characters. */
const MOST_CHARACTERS = 65_536;
/** Four bytes for each; whoever sends more than this does not mean a comment. */
const MOST_BYTES = 4 * MOST_CHARACTERS;
const MOST_ARTIFACTS = 20;
/** As mqbench writes it: the scenario's name, percent-encoded, without two dashes in a row. */
const MARKER = /^<!-- mqbench:(?!.*--.*-->)[A-Za-z0-9%._~!*'()-]{1,4000} -->$/;
const TRIES = 4;

/** Writes one comment for each artifact. */
async function comments() {
	const { workflow_run: run } = JSON.parse(readFileSync(env.GITHUB_EVENT_PATH, "utf8"));
	if (run?.event !== "pull_request")
		throw new Expected(
			"This action is for `on: workflow_run`, after a workflow of `on: pull_request`.",
		);
	const found = artifacts(env.INPUT_PATH);
	if (found.length === 0) say("notice", "The measurement left no comment: there is no report.");
	let refused = 0;
	for (const folder of found)
		try {
			await comment(read(folder), run);
		} catch (error) {
			if (!(error instanceof Expected)) throw error;
			refused++;
			say("error", error.message);
		}
	if (refused > 0) throw new Expected(`${refused} of ${found.length} not written.`);
}

// --- internal ---

/** A sentence for people; anything else that is thrown is a bug, and has a stack. */
class Expected extends Error {}

/** What may go away by itself: no answer, 5xx, too many requests. */
class Passing extends Expected {
	constructor(message, afterSeconds = 0) {
		super(message);
		this.afterSeconds = Math.min(afterSeconds, 60);
	}

	pause(tries) {
		const first = Number(env.MQBENCH_RETRY_MS ?? 1000);
		return sleep(Math.max(first * 4 ** (tries - 1), 1000 * this.afterSeconds));
	}
}

/** One artifact lies in the folder itself, several in a folder each. */
function artifacts(folder) {
	if (!existsSync(folder)) return [];
	const entries = readdirSync(folder, { withFileTypes: true });
	if (entries.some((entry) => entry.name === "comment.md")) return [folder];
	const folders = entries.filter((entry) => entry.isDirectory());
	if (folders.length > MOST_ARTIFACTS)
		throw new Expected(`${folders.length} artifacts; at most ${MOST_ARTIFACTS} are taken.`);
	return folders.map((entry) => path.join(folder, entry.name)).sort();
}

/** What an artifact says: to which pull request, and what. */
function read(folder) {
	const number = plainFile(folder, "pull-request.txt", 20).trim();
	if (!/^[1-9][0-9]{0,9}$/.test(number))
		throw new Expected("pull-request.txt does not hold a number.");
	const text = plainFile(folder, "comment.md", MOST_BYTES);
	const marker = text.split(/\r?\n/, 1)[0];
	if (!MARKER.test(marker))
		throw new Expected("comment.md does not begin with a line <!-- mqbench:<scenario> -->.");
	return { number, marker, text: text.slice(marker.length) };
}

/** A regular file of its folder, not a link to somewhere else, and not larger than it may be. */
function plainFile(folder, name, mostBytes) {
	let file;
	try {
		file = openSync(path.join(folder, name), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
	} catch (error) {
		throw new Expected(`${name} cannot be read: ${error.code}.`);
	}
	try {
		const stat = fstatSync(file);
		if (!stat.isFile()) throw new Expected(`${name} is not a plain file.`);
		if (stat.size > mostBytes)
			throw new Expected(`${name} has ${stat.size} bytes; at most ${mostBytes} are taken.`);
		const buffer = Buffer.alloc(stat.size);
		const length = readSync(file, buffer, 0, stat.size, 0);
		return buffer.toString("utf8", 0, length);
	} finally {
		closeSync(file);
	}
}

async function comment({ number, marker, text }, run) {
	const repository = `/repos/${env.GITHUB_REPOSITORY}`;
	const pull = await api("GET", `${repository}/pulls/${number}`);
	if (pull === null) throw new Expected(`There is no pull request #${number} here.`);
	// Of the same commit AND of the same repository: somebody else's commit can be pushed to a fork of one's own.
	const measured = `${run.head_repository?.id} ${run.head_sha}`;
	if (`${pull.head?.repo?.id} ${pull.head?.sha}` !== measured) {
		say(
			"warning",
			`#${number} is not written to: its head is not the commit that was measured, ${run.head_sha}. It has moved on, or the artifact names a pull request that is not its own.`,
		);
		return;
	}
	const body = bodyOf(marker, text, run);
	const url = await write(repository, number, marker, body);
	process.stdout.write(`#${number}: ${url}\n`);
}

function bodyOf(marker, text, run) {
	const head = `${marker}\n<sub>Measured on ${run.head_sha.slice(0, 12)}, [the whole run](${run.html_url}).</sub>\n`;
	const cut = `\n\n(Cut here: [the run](${run.html_url}) has the whole report.)\n`;
	// A zero-width space: the name is still to be read, and nobody is notified.
	const quiet = text
		.trimStart()
		// biome-ignore lint/suspicious/noControlCharactersInRegex: GitHub answers 422 to them.
		.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "")
		.replaceAll("@", "@\u200b");
	const room = MOST_CHARACTERS - head.length - 1;
	if (quiet.length <= room) return `${head}\n${quiet}`;
	const end = quiet.lastIndexOf("\n", room - cut.length);
	return `${head}\n${quiet.slice(0, end > 0 ? end : room - cut.length).toWellFormed()}${cut}`;
}

/** Finds our comment by its marker and author, and updates or creates it. After an answer that never came it looks again. */
async function write(repository, number, marker, body) {
	for (let tries = 1; ; tries++)
		try {
			const old = await find(repository, number, marker);
			const written =
				old === null
					? await send("POST", `${repository}/issues/${number}/comments`, { body })
					: await send("PATCH", `${repository}/issues/comments/${old.id}`, { body });
			return written.html_url;
		} catch (error) {
			if (!(error instanceof Passing) || tries === TRIES) throw error;
			await error.pause(tries);
		}
}

async function find(repository, number, marker) {
	for (let page = 1; ; page++) {
		const list = await send(
			"GET",
			`${repository}/issues/${number}/comments?per_page=100&page=${page}`,
		);
		if (list === null) throw new Expected(`#${number} has no comments to be read.`);
		const ours = list.find(
			(one) => one.user?.login === env.INPUT_AUTHOR && one.body?.split(/\r?\n/, 1)[0] === marker,
		);
		if (ours) return ours;
		if (list.length < 100) return null;
	}
}

/** For what may be asked twice. */
async function api(method, where) {
	for (let tries = 1; ; tries++)
		try {
			return await send(method, where);
		} catch (error) {
			if (!(error instanceof Passing) || tries === TRIES) throw error;
			await error.pause(tries);
		}
}

/** One request; null: 404. Throws Passing for what may go away by itself. */
async function send(method, where, body) {
	let response;
	try {
		response = await fetch(`${env.GITHUB_API_URL}${where}`, {
			method,
			headers: {
				accept: "application/vnd.github+json",
				authorization: `Bearer ${env.INPUT_TOKEN}`,
				"content-type": "application/json",
				"user-agent": "mqbench",
				"x-github-api-version": "2022-11-28",
			},
			...(body && { body: JSON.stringify(body) }),
			redirect: "error",
			signal: AbortSignal.timeout(30_000),
		});
		if (response.ok) return await response.json();
		if (method === "GET" && response.status === 404) return null;
	} catch (error) {
		throw new Passing(`${method} ${where}: ${error.cause?.message ?? error}`);
	}
	const { status } = response;
	const said = `${method} ${where}: GitHub answers ${status}. ${(await response.text().catch(() => "")).slice(0, 300)}`;
	const after = Number(response.headers.get("retry-after"));
	if (status >= 500 || status === 429 || after > 0) throw new Passing(said, after);
	throw new Expected(
		status === 403 || status === 401
			? `${said} The job needs \`permissions: { pull-requests: write, actions: read }\`.`
			: said,
	);
}

/** A workflow command; what stands in it may come from outside. */
function say(kind, message) {
	const escaped = message.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
	process.stdout.write(`::${kind} title=mqbench comment::${escaped}\n`);
}

try {
	await comments();
} catch (error) {
	say("error", error instanceof Expected ? error.message : error.stack);
	process.exitCode = 1;
}
