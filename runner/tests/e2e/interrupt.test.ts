import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { realBinaries } from "../../../infra/binaries/real.fake.ts";
import { alive, descendant, descendants } from "../../../infra/processes.fake.ts";
import {
	filesOf,
	type Mqbench,
	resultOf,
	run,
	scenario,
	script,
	start,
	temporaryFolder,
	until,
} from "./mqbench.ts";

const LONG = { duration: "30s" };
/** The first line of progress: a second has been measured. */
const MEASURING = / {2}1s\/30s/;

/** In mqbench itself: a second signal comes right after the first, and is heard 300 ms later, as there is no time for it. */
const TWICE = `
	process.once("SIGINT", () =>
		setImmediate(() => {
			process.kill(process.pid, "SIGTERM");
			Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
		}),
	);
`;

/** Starts a run of 30 s, and returns when it measures. */
async function measuring(folder: string): Promise<Mqbench> {
	const mqbench = start([scenario(folder, LONG), "--out", path.join(folder, "out")]);
	await mqbench.says(MEASURING);
	return mqbench;
}

describe("in mid-run", () => {
	describe.each<["SIGINT" | "SIGTERM", number, string[]]>([
		["SIGINT", 130, []],
		["SIGTERM", 143, ["long"]],
	])("%s", (signal, code, tags) => {
		test("keeps what was measured, marks it, leaves no process and has its exit code", {
			tags,
		}, async () => {
			const folder = temporaryFolder();
			const mqbench = await measuring(folder);
			const children = descendants(mqbench.pid);
			expect(children.map((c) => c.name).sort()).toEqual(["agent", "agent", "k6", "nats-server"]);
			mqbench.signal(signal);
			const ended = await mqbench.ended;
			expect(ended.code).toBe(code);
			expect(alive(children)).toEqual([]);
			const result = resultOf(path.join(folder, "out"));
			expect(result).toMatchObject({ verdict: "interrupted", interruptedBy: signal });
			const [one] = result.runs;
			expect(one?.state).toBe("interrupted");
			expect(one?.metrics.response?.count).toBeGreaterThan(400);
			expect(one?.lost).toBe(0);
			expect(ended.out).toMatch(/interrupted/i);
			// The same verdict from the files alone.
			expect((await run(["report", path.join(folder, "out")])).code).toBe(code);
		});
	});

	test("a closed load keeps what it measured as well", { tags: "long" }, async () => {
		const folder = temporaryFolder();
		const out = path.join(folder, "out");
		const file = path.join(folder, "closed.yaml");
		writeFileSync(
			file,
			"system: nats\nworkload: { pattern: round-trip, message: 256B, messages: 100000000, warmup: 0 }\n",
		);
		const mqbench = start([file, "--out", out]);
		await mqbench.says(/ {2}1s /);
		mqbench.signal("SIGINT");
		expect((await mqbench.ended).code).toBe(130);
		const [one] = resultOf(out).runs;
		expect(one?.state).toBe("interrupted");
		expect(one?.received).toBeGreaterThan(400);
	});

	test("a second Ctrl-C ends mqbench at once, and the children soon after", {
		tags: "long",
	}, async () => {
		const folder = temporaryFolder();
		const mqbench = await measuring(folder);
		const children = descendants(mqbench.pid);
		// A run that ends in order waits for k6.
		const k6 = children.find(({ name }) => name === "k6");
		process.kill(k6?.pid ?? -1, "SIGSTOP");
		const asking = setInterval(() => mqbench.signal("SIGINT"), 150);
		expect((await mqbench.ended).code).toBe(130);
		clearInterval(asking);
		expect(existsSync(path.join(folder, "out", "result.json"))).toBe(false);
		process.kill(k6?.pid ?? -1, "SIGCONT");
		await until(() => alive(children).length === 0, "no process is left");
	});

	test("one that comes twice in a moment, as timeout(1) sends it, is one, however late it is heard: what was measured stays", {
		tags: "long",
	}, async () => {
		const folder = temporaryFolder();
		const out = path.join(folder, "out");
		const mqbench = start([scenario(folder, LONG), "--out", out], {
			env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(TWICE)}` },
		});
		await mqbench.says(MEASURING);
		mqbench.signal("SIGINT");
		expect((await mqbench.ended).code).toBe(130);
		expect(resultOf(out).runs[0]?.state).toBe("interrupted");
	});

	test("the runs that were not made are interrupted as well, and no errors", {
		tags: "long",
	}, async () => {
		const folder = temporaryFolder();
		const out = path.join(folder, "out");
		const file = scenario(folder, LONG, { repeat: "3" });
		const mqbench = start([file, "--out", out]);
		await mqbench.says(MEASURING);
		mqbench.signal("SIGINT");
		expect((await mqbench.ended).code).toBe(130);
		const { runs } = resultOf(out);
		expect(runs.map((r) => r.verdict)).toEqual(Array(3).fill("interrupted"));
		expect(runs.map((r) => r.sent !== null)).toEqual([true, false, false]);
	});

	test("between two runs it is an interruption as well, not a run that failed", {
		tags: "long",
	}, async () => {
		const folder = temporaryFolder();
		const out = path.join(folder, "out");
		const file = scenario(folder, {}, { repeat: "2" });
		const mqbench = start([file, "--out", out]);
		await mqbench.says(/\[2\/2\]/);
		mqbench.signal("SIGINT");
		expect((await mqbench.ended).code).toBe(130);
		expect(resultOf(out).verdict).toBe("interrupted");
		expect(resultOf(out).runs[0]?.state).toBe("complete");
	});

	test("kill -9 of mqbench leaves no process, and files that report can read", async () => {
		const folder = temporaryFolder();
		const mqbench = await measuring(folder);
		const children = descendants(mqbench.pid);
		expect(children).toHaveLength(4);
		mqbench.signal("SIGKILL");
		await until(() => alive(children).length === 0, "no process is left");
		const out = path.join(folder, "out");
		const [first] = readdirSync(path.join(out, "runs"));
		// k6 has closed its books, although nobody was there to read its progress.
		await until(
			() => existsSync(path.join(out, "runs", first ?? "", "client-0.jsonl")),
			"k6 closes its books",
		);
		const ended = await run(["report", out]);
		expect(ended.code).not.toBe(0);
		expect(resultOf(out).runs[0]?.state).not.toBe("complete");
		expect(resultOf(out).runs[0]?.metrics.response?.count).toBeGreaterThan(0);
	});
});

describe("before anything is measured", () => {
	// The start takes about 400 ms; slower machines are met at an earlier step.
	test.each([100, 250, 350, 450, 600])(
		"Ctrl-C after %d ms exits with 130, without a stack, and leaves no process",
		{ tags: "long" },
		async (ms) => {
			const folder = temporaryFolder();
			const out = path.join(folder, "out");
			const mqbench = start([scenario(folder, LONG), "--out", out]);
			let children = descendants(mqbench.pid);
			for (const end = Date.now() + ms; Date.now() < end; ) {
				children = descendants(mqbench.pid);
				await new Promise((resolve) => setTimeout(resolve, 5));
			}
			mqbench.signal("SIGINT");
			const ended = await mqbench.ended;
			// A Node that still starts has no handler yet.
			if (ended.signal !== "SIGINT") expect(ended.code).toBe(130);
			expect(ended.err).not.toMatch(/^ +at /m);
			await until(() => alive(children).length === 0, "no process is left");
			if (existsSync(out)) expect(resultOf(out).verdict).toBe("interrupted");
		},
	);

	test("Ctrl-C while the broker starts exits with 130 and leaves nothing", async () => {
		const folder = temporaryFolder();
		const bin = path.join(folder, "bin");
		mkdirSync(bin);
		const k6 = script(path.join(bin, "k6"), "echo k6/x/mqbench");
		script(path.join(bin, "nats-server"), "exec sleep 100");
		// The agent alone is real: it is found beside the k6 of the cache.
		const { agent } = await realBinaries();
		script(path.join(bin, "agent"), `exec '${agent}' "$@"`);
		const out = path.join(folder, "out");
		const mqbench = start([scenario(folder), "--out", out], { env: { MQBENCH_K6: k6 } });
		await until(
			() => descendant(mqbench.pid, "sleep") !== undefined,
			"the broker has been started",
		);
		const children = descendants(mqbench.pid);
		mqbench.signal("SIGINT");
		expect(await mqbench.ended).toMatchObject({ code: 130, out: "" });
		expect(mqbench.err()).toMatch(/Stopped by SIGINT\.\n$/);
		expect(alive(children)).toEqual([]);
		expect(existsSync(out)).toBe(false);
	});

	describe.each<["SIGINT" | "SIGKILL", string[]]>([
		["SIGINT", []],
		["SIGKILL", ["long"]],
	])("%s", (signal, tags) => {
		test("during the build ends Go and its compilers", { tags }, async () => {
			const folder = temporaryFolder();
			const bin = path.join(folder, "bin");
			const cache = path.join(folder, "cache");
			mkdirSync(bin);
			// A compiler below go, as go build starts them.
			script(
				path.join(bin, "go"),
				'case "$1" in env) echo go1.26.8; echo auto;; *) sleep 100 & wait;; esac',
			);
			const mqbench = start([scenario(folder), "--out", path.join(folder, "out")], {
				env: { MQBENCH_CACHE_DIR: cache, PATH: `${bin}:${process.env.PATH}` },
			});
			await until(() => descendant(mqbench.pid, "sleep") !== undefined, "the build has begun");
			const children = descendants(mqbench.pid);
			mqbench.signal(signal);
			const ended = await mqbench.ended;
			await until(() => alive(children).length === 0, "no process is left");
			if (signal === "SIGKILL") return;
			expect(ended.code).toBe(130);
			expect(ended.err).toMatch(/Stopped by SIGINT\.\n$/);
			expect(readdirSync(path.join(cache, "bin"))).toEqual([]);
			expect(filesOf(folder)).not.toContain("out/scenario.yaml");
		});
	});
});
