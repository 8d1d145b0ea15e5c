import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { collect } from "./collect.ts";
import {
	editJson,
	editLines,
	firstRun,
	fixture,
	fixtureCopy,
	runFoldersOf,
} from "./fixture.fake.ts";

const copyOf = (name: string) => firstRun(fixtureCopy(name));
const file = (run: string, name: string) => join(run, name);

describe("a run folder", () => {
	test("of a run that ended is complete", () => {
		const run = collect(firstRun(fixture("healthy")));
		expect(run).toMatchObject({ state: "complete", problem: null });
		expect(run.seconds.map((s) => s.second)).toEqual([-1, 0, 1, 2, 3, 4]);
		expect(run.counters.window?.received).toBe(5000);
		expect(run.counters.warmup?.received).toBe(1000);
		expect(run.counters.window?.acked).toBeNull();
		expect(run.logs).toHaveLength(1);
	});

	test("of two clients is their sum; what no client has stays null", () => {
		const folder = runFoldersOf(fixture("repeats"))[1] as string;
		const run = collect(folder);
		expect(run.clients.map((c) => c.index)).toEqual([0, 1]);
		expect(run.counters.window).toMatchObject({
			intended: 2000,
			acked: 2000,
			reordered: null,
		});
		const read = (i: number) =>
			readFileSync(join(folder, `client-${i}.jsonl`), "utf8")
				.split("\n")
				.find((l) => l.includes('"second":2'));
		const [a, b] = [0, 1].map(
			(i) => JSON.parse(read(i) ?? "").metrics.response,
		);
		expect(run.seconds.find((s) => s.second === 2)?.metrics.response).toEqual({
			count: a.count + b.count,
			sum: a.sum + b.sum,
			min: Math.min(a.min, b.min),
			max: Math.max(a.max, b.max),
			clamped: 0,
			negative: 0,
		});
		expect(run.seconds[2]?.limits[0]?.count).toEqual(Array(10).fill(50));
		expect(run.totals?.sentInWindow).toBe(2000);
		// Not a sum: the latest claim of all clients.
		expect(run.totals?.firstClaimNs).toBe(-100_000_000);
		expect(run.ticks[1]).toMatchObject({ at: 2, sent: 500 });
	});

	test("of two clients spans from the first that sent to the last that was answered", () => {
		const folder = runFoldersOf(fixtureCopy("repeats"))[1] as string;
		const times = [
			{ firstSendNs: 5, lastAckNs: 90, firstReceiveNs: null, reconnects: 1 },
			{ firstSendNs: 3, lastAckNs: 80, firstReceiveNs: 7, reconnects: 2 },
		];
		for (const [i, more] of times.entries())
			editLines(join(folder, `client-${i}.jsonl`), (lines) => {
				Object.assign(
					lines.find((l) => l.type === "totals"),
					more,
				);
				return undefined;
			});
		expect(collect(folder).totals).toMatchObject({
			firstSendNs: 3,
			lastAckNs: 90,
			firstReceiveNs: 7,
			lastReceiveNs: null,
			reconnects: 3,
		});
	});

	test("puts a last tick that comes soon after the one before to its second", () => {
		const run = copyOf("healthy");
		editLines(file(run, "client-0.jsonl"), (lines) => [
			...lines,
			{ ...lines.find((l) => l.at === 6), at: 6.002, sent: 5, inFlight: 1 },
		]);
		const last = collect(run).ticks.filter((t) => t.at === 6);
		expect(last).toHaveLength(1);
		expect(last[0]).toMatchObject({ sent: 1005, inFlight: 1 });
	});

	test("adds several lines of one second: stragglers are written later", () => {
		const run = copyOf("healthy");
		editLines(file(run, "client-0.jsonl"), (lines) => {
			const second = lines.find((l) => l.second === 1);
			return [...lines, { ...second, metrics: {}, limits: second.limits }];
		});
		const seconds = collect(run).seconds.filter((s) => s.second === 1);
		expect(seconds).toHaveLength(1);
		expect(seconds[0]?.limits[0]?.count).toEqual(Array(10).fill(200));
		expect(seconds[0]?.metrics.response?.count).toBe(1000);
	});

	test("adds the samples of the queue of all clients, and leaves out those that one of them has not taken", () => {
		const folder = runFoldersOf(fixtureCopy("repeats"))[1] as string;
		for (const [i, backlog] of [
			[1, 2, 3],
			[10, 20],
		].entries())
			editLines(file(folder, `client-${i}.jsonl`), (lines) => {
				for (const l of lines) if (l.type === "tick") l.backlog = backlog;
				return undefined;
			});
		expect(collect(folder).ticks[1]?.backlog).toEqual([11, 22]);
	});

	test("takes the earliest offender and the slowest messages of all clients", () => {
		const folder = runFoldersOf(fixtureCopy("repeats"))[1] as string;
		const message = (i: number, ns: number) => ({
			...{ producer: i, sequence: 1, intendedNs: ns, topic: 0 },
			...{
				partition: null,
				responseNs: ns,
				queuedNs: 0,
				lagNs: 0,
				serviceNs: ns,
			},
		});
		for (const i of [0, 1])
			editLines(file(folder, `client-${i}.jsonl`), (lines) => {
				lines.find((l) => l.type === "offenders").first = {
					lost: { producer: i, sequence: 1, intendedNs: 100 - i },
				};
				lines.find((l) => l.type === "slowest").messages = Array.from(
					{ length: 15 },
					(_, k) => message(i, 1000 - 2 * k - i),
				);
				return undefined;
			});
		const run = collect(folder);
		expect(run.offenders).toEqual({
			lost: { producer: 1, sequence: 1, intendedNs: 99 },
		});
		expect(run.slowest.map((m) => m.responseNs)).toEqual(
			Array.from({ length: 20 }, (_, k) => 1000 - k),
		);
	});

	test("has the resources up to a line that breaks off; without the file none", () => {
		const run = copyOf("healthy");
		const path = file(run, "resources.jsonl");
		const lines = readFileSync(path, "utf8").trimEnd().split("\n");
		expect(collect(run).resources).toHaveLength(lines.length);
		writeFileSync(path, `${lines.slice(0, 3).join("\n")}\n{"unixMs":17`);
		expect(collect(run).resources).toHaveLength(3);
		rmSync(path);
		expect(collect(run).resources).toEqual([]);
	});

	test("puts the errors of all clients together, the commonest first", () => {
		const folder = runFoldersOf(fixtureCopy("repeats"))[1] as string;
		for (const i of [0, 1])
			editLines(file(folder, `client-${i}.jsonl`), (lines) => {
				lines.find((l) => l.type === "totals").errors = [
					{ message: "a", count: 3, firstNs: 50 - i },
					{ message: `only ${i}`, count: 4 + i, firstNs: null },
				];
				return undefined;
			});
		expect(collect(folder).totals?.errors).toEqual([
			{ message: "a", count: 6, firstNs: 49 },
			{ message: "only 1", count: 5, firstNs: null },
			{ message: "only 0", count: 4, firstNs: null },
		]);
	});
});

describe("a run that did not end as it should", () => {
	test("was never made: there is the plan alone", () => {
		const run = copyOf("healthy");
		for (const name of ["run.json", "client-0.hlog", "client-0.jsonl"])
			rmSync(file(run, name));
		expect(collect(run)).toMatchObject({
			state: "never",
			problem: "the run was not made",
			counters: { window: null },
			totals: null,
		});
	});

	test("says what run.json says when it could not be made", () => {
		const run = copyOf("healthy");
		rmSync(file(run, "client-0.hlog"));
		rmSync(file(run, "client-0.jsonl"));
		editJson(file(run, "run.json"), (f) => {
			f.error = "the broker did not start within 30s";
		});
		expect(collect(run)).toMatchObject({
			state: "never",
			problem: "the broker did not start within 30s",
		});
	});

	test("crashed: .part files are read up to where they break off", () => {
		const run = copyOf("healthy");
		for (const name of ["client-0.hlog", "client-0.jsonl"]) {
			const text = readFileSync(file(run, name), "utf8");
			writeFileSync(file(run, `${name}.part`), text.slice(0, text.length / 2));
			rmSync(file(run, name));
		}
		const found = collect(run);
		expect(found.state).toBe("crashed");
		expect(found.problem).toContain("ended before its result was complete");
		expect(found.seconds.length).toBeGreaterThan(1);
		expect(found.counters.window).toBeNull();
	});

	test("is interrupted, not crashed, when the user stopped it", () => {
		const run = copyOf("healthy");
		for (const name of ["client-0.hlog", "client-0.jsonl"])
			renameSync(file(run, name), file(run, `${name}.part`));
		editJson(file(run, "run.json"), (f) => {
			f.interruptedBy = "SIGTERM";
		});
		expect(collect(run)).toMatchObject({
			state: "interrupted",
			problem: "stopped by SIGTERM",
		});
	});

	test("is aborted when mqbench stopped it, as an SLA could not pass any more", () => {
		const run = copyOf("interrupted");
		editJson(file(run, "run.json"), (f) => {
			f.interruptedBy = null;
			f.abortedBy = "p99 < 20ms";
		});
		expect(collect(run)).toMatchObject({
			state: "aborted",
			problem: "stopped, as p99 < 20ms could not pass any more",
		});
		rmSync(file(run, "client-0.hlog"));
		expect(collect(run).state).toBe("crashed");
	});

	test("of an older mqbench has no abortedBy in run.json", () => {
		const run = copyOf("healthy");
		editJson(file(run, "run.json"), (f) => {
			delete f.abortedBy;
		});
		expect(collect(run).run?.abortedBy).toBeNull();
	});

	test("is interrupted by what its trailer says too", () => {
		const run = copyOf("interrupted");
		rmSync(file(run, "run.json"));
		expect(collect(run)).toMatchObject({ state: "interrupted" });
	});

	test("crashed when a client is missing: its counts are not shown as if they were all", () => {
		const folder = runFoldersOf(fixtureCopy("repeats"))[0] as string;
		rmSync(file(folder, "client-1.jsonl"));
		rmSync(file(folder, "client-1.hlog"));
		expect(collect(folder)).toMatchObject({
			state: "crashed",
			problem: "client 1 has left no files",
			counters: { window: null },
			totals: null,
		});
	});
});

describe("trailers", () => {
	test.each([
		["client-0.jsonl", /"count":1000/, '"count":1001'],
		["client-0.hlog", /1\.000000,1\.000000/, "1.000000,2.000000"],
	])("a changed byte in %s is found", (name, from, to) => {
		const run = copyOf("healthy");
		const path = file(run, name);
		writeFileSync(path, readFileSync(path, "utf8").replace(from, to));
		expect(collect(run)).toMatchObject({
			state: "crashed",
			problem: `${name} was changed: it does not match the sum in its trailer`,
		});
	});

	test.each(["client-0.jsonl", "client-0.hlog"])(
		"a line missing in %s is found",
		(name) => {
			const run = copyOf("healthy");
			const path = file(run, name);
			const lines = readFileSync(path, "utf8").split("\n");
			lines.splice(5, 1);
			writeFileSync(path, lines.join("\n"));
			expect(collect(run).problem).toMatch(
				/has \d+ lines where its trailer says \d+/,
			);
		},
	);

	test.each(["client-0.jsonl", "client-0.hlog"])(
		"a missing trailer of %s is found",
		(name) => {
			const run = copyOf("healthy");
			const path = file(run, name);
			const lines = readFileSync(path, "utf8").trimEnd().split("\n");
			writeFileSync(path, `${lines.slice(0, -1).join("\n")}\n`);
			expect(collect(run).problem).toBe(
				`${name} has no trailer: its end is missing`,
			);
		},
	);

	test("an .hlog of another run is found", () => {
		const run = copyOf("healthy");
		writeFileSync(
			file(run, "client-0.hlog"),
			readFileSync(file(firstRun(fixture("lost")), "client-0.hlog")),
		);
		expect(collect(run).problem).toBe(
			"client-0.hlog and client-0.jsonl are not of the same run",
		);
	});

	test("a line that this version does not know is named", () => {
		const run = copyOf("healthy");
		editLines(file(run, "client-0.jsonl"), (lines) => [
			...lines,
			{ type: "news" },
		]);
		expect(collect(run).problem).toMatch(
			/client-0.jsonl cannot be read at line \d+/,
		);
	});

	test("an empty file has none", () => {
		const run = copyOf("healthy");
		writeFileSync(file(run, "client-0.jsonl"), "");
		expect(collect(run).state).toBe("crashed");
	});
});

test("a plan that cannot be read is an error that names it", () => {
	const run = copyOf("healthy");
	editJson(file(run, "plan.json"), (plan) => {
		plan.rate = 5;
	});
	expect(() => collect(run)).toThrow(/plan\.json: cannot be read/);
});
