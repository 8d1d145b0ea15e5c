import { readFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { descendants } from "../../../infra/processes.fake.ts";
import type { Run } from "../../model/result.ts";
import { intervalText, percentileValue } from "../../report/words.ts";
import type { WatchEvent, WatchState } from "../../watch/state.ts";
import {
	freePort,
	type Mqbench,
	resultOf,
	scenario,
	script,
	start,
	temporaryFolder,
	until,
} from "./mqbench.ts";

/** What a page is told: what was known when it came, then what happened, and the report. */
interface Told {
	snapshot: WatchState | null;
	events: WatchEvent[];
	report: { html: string; left: string } | null;
	/** The server has ended. */
	over: boolean;
}

/** Connects to the page of a command as a browser does. */
async function connected(mqbench: Mqbench): Promise<Told & { url: string }> {
	await mqbench.says(/http:\S+/);
	const url = /http:\S+/.exec(mqbench.err())?.[0] ?? "";
	const answer = await fetch(new URL("events", url));
	const told = { url, snapshot: null, events: [], report: null, over: false };
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
			const data = Buffer.from(found[2] ?? "", "latin1").toString("utf8");
			if (found[1] === "snapshot") told.snapshot = JSON.parse(data);
			if (found[1] === "event") told.events.push(JSON.parse(data));
			if (found[1] === "report") told.report = JSON.parse(data);
		}
	}
	told.over = true;
}

/** Waits for the end of the command, and for all that was under way to its page. */
async function endOf(mqbench: Mqbench, told: Told) {
	const ended = await mqbench.ended;
	await until(() => told.over, "the end of the connection");
	return ended;
}

const secondsOf = ({ events }: Told) =>
	events.flatMap((event) => (event.kind === "second" ? [event] : []));

describe("--watch", () => {
	test("shows a run with the figures of the terminal, and its report in the end; the command ends by itself", async () => {
		const folder = temporaryFolder();
		const out = path.join(folder, "out");
		const port = await freePort();
		const file = scenario(folder, { duration: "4s", warmup: "1s" });
		const mqbench = start(["--watch", file, "--no-floor", "--out", out, "--watch-port", `${port}`]);
		const told = await connected(mqbench);
		expect(new URL(told.url).port).toBe(`${port}`);
		const ended = await endOf(mqbench, told);
		expect(ended).toMatchObject({ code: 0, signal: null });

		// Each second is there once, with the words of the terminal's line.
		const seconds = secondsOf(told);
		const lines = ended.err.match(/^ {2}\d+s\/5s .*$/gm) ?? [];
		expect(lines.length).toBeGreaterThanOrEqual(4);
		expect(seconds.length).toBeGreaterThanOrEqual(lines.length);
		for (const [i, line] of lines.entries()) {
			expect(seconds[i]?.second.at).toBe(i + 1);
			const [, ...last] = seconds[i]?.rows[3]?.[1] ?? [];
			expect(last.join("  ")).toMatch(/^p50 .+ {2}p99 .+/);
			expect(line).toContain(`  ${last.join("  ")}  `);
		}
		expect(seconds[2]?.second).toMatchObject({
			rates: [
				["offered", 500],
				["sent", expect.any(Number)],
				["received", expect.any(Number)],
			],
			held: expect.any(Number),
		});
		if (process.platform === "linux")
			expect(seconds.at(-1)?.second.cores.map(([name]) => name)).toEqual([
				"generator",
				"broker",
				"machine",
			]);

		// The run is judged as in the report.
		const result = resultOf(out);
		const run = result.runs[0] as Run;
		const judged = told.events
			.flatMap((event) => (event.kind === "runs" ? event.runs : []))
			.at(-1)?.judged;
		const p50 = run.metrics.response?.percentiles.find(({ p }) => p === 50);
		if (!p50) throw new Error("no p50");
		expect(judged).toMatchObject({
			verdict: run.verdict,
			p50: { value: percentileValue(p50, run), interval: intervalText(p50) },
		});
		expect(told.report?.html).toBe(readFileSync(path.join(out, "report.html"), "utf8"));
		await expect(fetch(told.url)).rejects.toThrow();
	});

	test("a page that comes in mid-run knows all from the start, and stops it as one Ctrl-C does", async () => {
		const folder = temporaryFolder();
		const out = path.join(folder, "out");
		const file = scenario(folder, { duration: "30s" });
		const mqbench = start([file, "--watch", "--out", out]);
		await mqbench.says(/ {2}3s\/30s/);
		const told = await connected(mqbench);
		await until(() => told.snapshot !== null, "the snapshot");
		const { current, runs, log } = told.snapshot as WatchState;
		expect(current?.seconds.map(({ at }) => at)).toEqual(current?.seconds.map((_, i) => i + 1));
		expect(current?.seconds.length).toBeGreaterThanOrEqual(3);
		expect(runs).toMatchObject([{ is: "running", judged: null }]);
		expect(log[0]?.text).toMatch(/^nats: 256B 500\/s /);
		const children = descendants(mqbench.pid);
		expect(children.length).toBeGreaterThan(2);

		const { origin } = new URL(told.url);
		const stop = (from: string) =>
			fetch(new URL("stop", told.url), { method: "POST", headers: { origin: from } });
		expect((await stop("http://elsewhere.example")).status).toBe(403);
		const answers = [await stop(origin), await stop(origin)];
		expect(answers.map(({ status }) => status)).toEqual([200, 200]);
		const ended = await endOf(mqbench, told);
		expect(ended.code).toBe(130);
		expect(ended.err).toContain("Stopped from the page, as by one Ctrl-C");
		expect(resultOf(out)).toMatchObject({ verdict: "interrupted", interruptedBy: "SIGINT" });
		expect(told.events).toContainEqual({ kind: "stopping" });
		expect(told.report?.html).toContain("INTERRUPTED");
		expect(descendants(mqbench.pid)).toEqual([]);
	});

	test("a command that goes on with --resume shows the runs that were kept as well", async () => {
		const folder = temporaryFolder();
		const out = path.join(folder, "out");
		const file = scenario(folder, { duration: "3s" }, { repeat: "2" });
		const first = start([file, "--out", out]);
		await first.says(/^\[2\/2\].*\n {2}1s\/3s/m);
		first.signal("SIGINT");
		expect((await first.ended).code).toBe(130);
		const mqbench = start([file, "--resume", out, "--watch"]);
		const told = await connected(mqbench);
		expect((await endOf(mqbench, told)).code).toBe(0);
		const begun = told.events.find(({ kind }) => kind === "begin");
		expect(begun).toMatchObject({ run: { index: 2 } });
		const shown = new Map(
			[
				...(told.snapshot?.runs ?? []),
				...told.events.flatMap((e) => (e.kind === "runs" ? e.runs : [])),
			].map((one) => [one.index, one.judged?.verdict]),
		);
		expect([...shown]).toEqual(resultOf(out).runs.map(({ index, verdict }) => [index, verdict]));
	});

	test("of a command that fails says why, and no password", async () => {
		const folder = temporaryFolder();
		// A broker that says nothing until the page is connected, and then is gone.
		const sockets = new Set<Socket>();
		const silent = createServer((socket) => {
			sockets.add(socket.on("error", () => {}));
		});
		await new Promise<void>((up) => silent.listen(0, "127.0.0.1", up));
		onTestFinished(() => void silent.close());
		const { port } = silent.address() as AddressInfo;
		const file = scenario(folder, { duration: "1s" });
		const mqbench = start(
			[
				file,
				"--watch",
				"--out",
				path.join(folder, "out"),
				"--url",
				`nats://me:\${PASSWORD}@127.0.0.1:${port}`,
			],
			{ env: { PASSWORD: "swordfish-of-e2e" } },
		);
		const told = await connected(mqbench);
		silent.close();
		for (const socket of sockets) socket.destroy();
		const ended = await endOf(mqbench, told);
		expect(ended.code).toBe(3);
		const all = JSON.stringify(told);
		expect(all).toContain("mqbench has ended without a report: ");
		expect(told.report).toBeNull();
		expect(all + ended.err).not.toContain("swordfish");
	});

	test("--open hands the browser an address that is good once, and is no secret any more", async () => {
		const folder = temporaryFolder();
		const given = path.join(folder, "given");
		for (const name of ["xdg-open", "open"])
			script(path.join(folder, name), `echo "$1" >> ${given}`);
		const file = scenario(folder);
		const out = path.join(folder, "out");
		const env = { PATH: `${folder}:${process.env.PATH}` };
		const mqbench = start([file, "--watch", "--open", "--out", out], { env });
		const { url } = await connected(mqbench);
		await until(() => read(given).endsWith("\n"), "the browser");
		const once = read(given).trim();
		const page = await fetch(once);
		expect(page.status).toBe(200);
		expect(await page.text()).toContain("mqbench");
		// The browser's address is its own: whoever sees it does not know the one that is printed.
		expect(new Set([url, once, page.url]).size).toBe(3);
		expect((await fetch(once)).status).toBe(404);
		expect((await mqbench.ended).code).toBe(0);
		expect(read(given).trim()).toBe(once);

		const report = await start(["report", out, "--open"], { env }).ended;
		expect(report.code).toBe(0);
		await until(() => read(given).trim() !== once, "the browser");
		expect(read(given).trim().split("\n")).toEqual([once, path.join(out, "report.html")]);
	});
});

// --- internal ---

function read(file: string): string {
	try {
		return readFileSync(file, "utf8");
	} catch {
		return "";
	}
}
