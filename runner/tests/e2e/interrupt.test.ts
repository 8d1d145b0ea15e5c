import { existsSync, mkdirSync, readdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { alive, descendant, descendants } from "../../../infra/processes.fake.ts";
import { realBinaries } from "../../../infra/programs/real.fake.ts";
import {
	filesOf,
	gone,
	measuring,
	resultOf,
	run,
	script,
	signal as signalTo,
	started,
	temporaryFolder,
	until,
} from "./mqbench.ts";

const LONG = { duration: "30s" };

/** In mqbench itself: a second signal comes right after the first, and is heard 300 ms later, as there is no time for it. */
const TWICE = `
	process.once("SIGINT", () =>
		setImmediate(() => {
			process.kill(process.pid, "SIGTERM");
			Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
		}),
	);
`;

describe("in mid-run", () => {
	describe.each<["SIGINT" | "SIGTERM", number, string[]]>([
		["SIGINT", 130, []],
		["SIGTERM", 143, ["long"]],
	])("%s", (signal, code, tags) => {
		test("keeps what was measured, marks it, leaves no process and has its exit code", {
			tags,
		}, async () => {
			const made = await measuring(LONG);
			const { mqbench, children } = made;
			const names = children.map((c) => c.name).sort();
			expect(names).toEqual(["agent", "agent", "agent", "k6", "nats-server"]);
			mqbench.signal(signal);
			const ended = await mqbench.ended;
			expect(ended.code).toBe(code);
			expect(alive(children)).toEqual([]);
			expect(made.result).toMatchObject({ verdict: "interrupted", interruptedBy: signal });
			expect(made.run).toMatchObject({ state: "interrupted", lost: 0 });
			expect(made.run.metrics.response?.count).toBeGreaterThan(400);
			expect(ended.out).toMatch(/interrupted/i);
			// The same verdict from the files alone.
			expect((await run(["report", made.results])).code).toBe(code);
		});
	});

	test("a closed load keeps what it measured as well", { tags: "long" }, async () => {
		const load = { messages: "100000000", rate: "", duration: "", warmup: "0" };
		const made = await measuring(load, { sla: "" });
		made.mqbench.signal("SIGINT");
		expect((await made.mqbench.ended).code).toBe(130);
		expect(made.run.state).toBe("interrupted");
		expect(made.run.received).toBeGreaterThan(400);
	});

	test("a second Ctrl-C ends mqbench at once, and the children soon after", {
		tags: "long",
	}, async () => {
		const { mqbench, children, results } = await measuring(LONG);
		// A run that ends in order waits for k6.
		signalTo(children, "k6", "SIGSTOP");
		const asking = setInterval(() => mqbench.signal("SIGINT"), 150);
		expect((await mqbench.ended).code).toBe(130);
		clearInterval(asking);
		expect(existsSync(path.join(results, "result.json"))).toBe(false);
		signalTo(children, "k6", "SIGCONT");
		await gone(children);
	});

	test("one that comes twice in a moment, as timeout(1) sends it, is one, however late it is heard: what was measured stays", {
		tags: "long",
	}, async () => {
		const env = {
			NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(TWICE)}`,
		};
		const made = await measuring(LONG, {}, { env });
		made.mqbench.signal("SIGINT");
		expect((await made.mqbench.ended).code).toBe(130);
		expect(made.run.state).toBe("interrupted");
	});

	test("runs before it are complete, and those that were not made are interrupted, and no errors", {
		tags: "long",
	}, async () => {
		const made = started({}, { repeat: "3" });
		await made.mqbench.says(/\[2\/3\]/);
		made.mqbench.signal("SIGINT");
		expect((await made.mqbench.ended).code).toBe(130);
		const { verdict, runs } = made.result;
		expect(verdict).toBe("interrupted");
		expect(runs.map(({ state }) => state === "complete")).toEqual([true, false, false]);
		expect(runs.slice(1).map((one) => one.verdict)).toEqual(["interrupted", "interrupted"]);
		expect(runs[2]?.sent).toBeNull();
	});

	test("kill -9 of mqbench leaves no process, and files that report can read", async () => {
		const { mqbench, children, results } = await measuring(LONG);
		expect(children).toHaveLength(5);
		mqbench.signal("SIGKILL");
		await gone(children);
		const [first = ""] = readdirSync(path.join(results, "runs"));
		// k6 has closed its books, although its progress had no reader.
		await until(
			() => existsSync(path.join(results, "runs", first, "client-0.jsonl")),
			"k6 closes its books",
		);
		const ended = await run(["report", results]);
		expect(ended.code).not.toBe(0);
		const [one] = resultOf(results).runs;
		expect(one?.state).not.toBe("complete");
		expect(one?.metrics.response?.count).toBeGreaterThan(0);
	});
});

describe("before anything is measured", () => {
	// The start takes about 400 ms; slower machines are met at an earlier step.
	test.each([100, 250, 350, 450, 600])(
		"Ctrl-C after %d ms exits with 130, without a stack, and leaves no process",
		{ tags: "long" },
		async (ms) => {
			const { mqbench, results } = started(LONG);
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
			await gone(children);
			if (existsSync(results)) expect(resultOf(results).verdict).toBe("interrupted");
		},
	);

	test("Ctrl-C while the broker starts exits with 130 and leaves nothing", async () => {
		const folder = temporaryFolder();
		const k6 = script(path.join(folder, "k6"), "echo k6/x/mqbench");
		script(path.join(folder, "nats-server"), "exec sleep 100");
		// The agent alone is real: it is found beside the k6 of the cache.
		const { agent } = await realBinaries();
		script(path.join(folder, "agent"), `exec '${agent}' "$@"`);
		const { mqbench, results } = started({}, {}, { folder, env: { MQBENCH_K6: k6 } });
		const broker = () => descendant(mqbench.pid, "sleep") !== undefined;
		await until(broker, "the broker has been started");
		const children = descendants(mqbench.pid);
		mqbench.signal("SIGINT");
		expect(await mqbench.ended).toMatchObject({ code: 130, out: "" });
		expect(mqbench.err()).toMatch(/Stopped by SIGINT\.\n$/);
		expect(alive(children)).toEqual([]);
		expect(existsSync(results)).toBe(false);
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
			const env = { MQBENCH_CACHE_DIR: cache, PATH: `${bin}:${process.env.PATH}` };
			const { mqbench } = started({}, {}, { folder, env });
			await until(() => descendant(mqbench.pid, "sleep") !== undefined, "the build has begun");
			const children = descendants(mqbench.pid);
			mqbench.signal(signal);
			const ended = await mqbench.ended;
			await gone(children);
			if (signal === "SIGKILL") return;
			expect(ended.code).toBe(130);
			expect(ended.err).toMatch(/Stopped by SIGINT\.\n$/);
			expect(readdirSync(path.join(cache, "bin"))).toEqual([]);
			expect(filesOf(folder)).not.toContain("out/scenario.yaml");
		});
	});
});
