import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { descendants } from "../../../infra/processes.fake.ts";
import {
	freePort,
	type Mqbench,
	scenario,
	start,
	started,
	temporaryFolder,
	until,
} from "./mqbench.ts";

/** The events that a page gets, each in its order. */
interface Told {
	readonly url: string;
	readonly strips: string[];
	/** Of the page: the plan, then reports; the last one stays when the server has ended. */
	readonly pages: { version: number; html: string; left?: string }[];
	/** The server has ended. */
	ended: boolean;
}

/** Connects to the page of a command as a browser does. */
async function connected(mqbench: Mqbench): Promise<Told> {
	await mqbench.says(/http:\S+/);
	const url = /http:\S+/.exec(mqbench.err())?.[0] ?? "";
	const answer = await fetch(new URL("events", url));
	const told: Told = { url, strips: [], pages: [], ended: false };
	void listen(answer, told);
	return told;
}

async function listen(answer: Response, told: Told): Promise<void> {
	let text = "";
	for await (const bytes of answer.body ?? []) {
		text += Buffer.from(bytes).toString("latin1");
		for (;;) {
			const found = /^(?:.*\n)*?event: (\w+)\ndata: (.*)\n\n/.exec(text);
			if (!found) break;
			text = text.slice(found[0].length);
			const data = JSON.parse(Buffer.from(found[2] ?? "", "latin1").toString("utf8"));
			if (found[1] === "strip") told.strips.push(data);
			if (found[1] === "page") told.pages.push(data);
		}
	}
	told.ended = true;
}

/** Waits for the end of the command, and for all that was under way to its page. */
async function endOf(mqbench: Mqbench, told: Told) {
	const ended = await mqbench.ended;
	await until(() => told.ended, "the end of the connection");
	return ended;
}

describe("--watch", () => {
	test("serves the plan and the current seconds, the report of each run that is over, and the whole one in the end", async () => {
		const folder = temporaryFolder();
		const out = path.join(folder, "out");
		const port = await freePort();
		const file = scenario(folder, { duration: "3s", warmup: "1s" }, { repeat: "2" });
		const mqbench = start(["--watch", file, "--no-floor", "--out", out, "--watch-port", `${port}`]);
		const told = await connected(mqbench);
		expect(new URL(told.url).port).toBe(`${port}`);
		const page = async () => (await fetch(told.url)).text();
		await mqbench.says(/ {2}1s\/4s/);
		expect(await page()).toMatch(/<ol><li>nats: 256B 500\/s, repeat 1\/2 .*repeat 2\/2/);
		await mqbench.says(/^\[2\/2\].*\n {2}1s\/4s/m);
		// A page that opens late gets everything.
		const late = await connected(mqbench);
		await until(() => late.strips.length > 0, "the strip");
		expect(late.strips[0]).toContain("[2/2] nats: 256B 500/s");
		expect(late.strips[0]).toContain("Below: the report of 1 run so far.");
		const soFar = await page();
		expect(soFar).toContain(`data-version="${late.pages.at(-1)?.version}"`);
		expect(soFar).toContain('id="run-1"');
		expect(soFar).not.toContain('id="run-2"');

		const ended = await endOf(mqbench, told);
		expect(ended).toMatchObject({ code: 0, signal: null });
		expect(told.strips.some((html) => /rate<.*scheduled 500\/s, sent \d+\/s/.test(html))).toBe(
			true,
		);
		expect(told.pages.at(-1)?.html).toBe(readFileSync(path.join(out, "report.html"), "utf8"));
		expect(told.pages.at(-1)?.left).toContain("this page is no longer served");
		await expect(fetch(told.url)).rejects.toThrow();
	});

	test("is stopped by its page as by one Ctrl-C, and shows what there is", async () => {
		const made = started({ duration: "30s" }, {}, { args: ["--watch"] });
		const { mqbench } = made;
		const told = await connected(mqbench);
		await mqbench.says(/ {2}2s\/30s/);
		const { origin } = new URL(told.url);
		const stop = (from: string) =>
			fetch(new URL("stop", told.url), { method: "POST", headers: { origin: from } });
		expect((await stop("http://elsewhere.example")).status).toBe(403);
		const answers = [await stop(origin), await stop(origin)];
		expect(answers.map(({ status }) => status)).toEqual([200, 200]);
		const ended = await endOf(mqbench, told);
		expect(ended.code).toBe(130);
		expect(ended.err).toContain("Stopped from the page, as by one Ctrl-C");
		expect(made.result).toMatchObject({ verdict: "interrupted", interruptedBy: "SIGINT" });
		expect(told.pages.at(-1)?.html).toContain("INTERRUPTED");
		expect(descendants(mqbench.pid)).toEqual([]);
	});
});
