import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { brokers, type Traits } from "../brokers/index.ts";
import { buildResult } from "../compare/build.ts";
import {
	editJson,
	editLines,
	firstRun,
	fixture,
	fixtureCopy,
	runFoldersOf,
} from "../evidence/fixture.fake.ts";
import { Result } from "../model/result.ts";
import { FIXTURES, wordsOf } from "../page/pages.fake.ts";
import { renderHtml } from "../render/rendered.fake.ts";
import { exitCodeOf } from "../verdict/exit.ts";
import { fixtureResult } from "./stored.fake.ts";

describe("the result of a run folder", () => {
	test.each([
		["healthy", "pass", 0],
		["stall", "fail", 99],
		["lost", "fail", 99],
		["lag", "invalid", 4],
		["no-data", "fail", 99],
		["interrupted", "interrupted", 130],
		["repeats", "inconclusive", 6],
	])("%s is %s, exit code %d", (name, verdict, code) => {
		const result = buildResult(fixture(name));
		expect(result.verdict).toBe(verdict);
		expect(exitCodeOf(result)).toBe(code);
	});

	test.each(FIXTURES)("%s follows its schema, and is the same each time", (name) => {
		const result = buildResult(fixture(name));
		expect(Result.parse(JSON.parse(JSON.stringify(result)))).toEqual(result);
		expect(JSON.stringify(buildResult(fixture(name)))).toBe(JSON.stringify(result));
	});

	test("has the durability of the version that ran", () => {
		const copy = fixtureCopy("healthy");
		const written = brokers.rabbitmq?.traits({ broker: "rabbitmq" }) as Traits;
		editJson(join(firstRun(copy), "plan.json"), (plan) => {
			Object.assign(plan, { broker: "rabbitmq", durability: written.ownDurability });
		});
		editLines(join(firstRun(copy), "client-0.jsonl"), ([client]) => {
			Object.assign(client?.versions, { server: "RabbitMQ 3.10.8" });
			return undefined;
		});
		expect(buildResult(copy).runs[0]?.load.durability).toBe(
			"classic queue (default): RabbitMQ 3 flushes before it confirms",
		);
	});

	test("has exact min, mean and max from the counters, not from buckets", () => {
		const [run] = fixtureResult("healthy").runs;
		const lines = readFileSync(join(firstRun(fixture("healthy")), "client-0.jsonl"), "utf8")
			.trim()
			.split("\n")
			.map((l) => JSON.parse(l))
			.filter((l) => l.type === "second" && l.second >= 0)
			.map((l) => l.metrics.response);
		expect(run?.metrics.response).toMatchObject({
			min: Math.min(...lines.map((m) => m.min)),
			max: Math.max(...lines.map((m) => m.max)),
			mean: lines.reduce((sum, m) => sum + m.sum, 0) / 5000,
		});
	});

	test("shows the stall in p99 and in its second", () => {
		const [run] = fixtureResult("stall").runs;
		// 500 messages wait from 500 ms down to 0: 100 of the 10 000 are above 400 ms.
		const p99 = run?.metrics.response?.percentiles.find((p) => p.p === 99);
		expect(p99?.value).toBeGreaterThan(399.5e6);
		expect(p99?.value).toBeLessThan(400.6e6);
		expect(p99?.support).toBe("weak");
		const seconds = run?.series.seconds ?? [];
		expect(seconds.find((s) => s.second === 4)?.max).toBe(500_000_001);
		expect(seconds.find((s) => s.second === 3)?.max).toBeLessThan(1e6);
		expect(run?.metrics.service?.max).toBe(500_000_001);
	});

	test("lost messages are in the denominator of response, not of lag", () => {
		const [run] = fixtureResult("lost").runs;
		expect(run?.metrics.response).toMatchObject({ n: 5000, count: 4988, censored: 12 });
		expect(run?.metrics.lag).toMatchObject({ n: 4988, count: 4988, censored: 0 });
		expect(run?.metrics.response?.percentiles.find((p) => p.p === 99.9)).toMatchObject({
			value: null,
			beyondTimeout: true,
		});
	});

	test("of a stopped run has percentiles of what was offered until then", () => {
		const [run] = fixtureResult("interrupted").runs;
		expect(run?.metrics.response).toMatchObject({ n: 3000, count: 3000, censored: 0 });
		expect(run).toMatchObject({ notOffered: 2000, why: "stopped by SIGINT" });
	});

	test("hides passwords wherever they stand", () => {
		const copy = fixtureCopy("no-data");
		editJson(join(firstRun(copy), "run.json"), (f) => {
			f.notes = ["gave up on amqp://guest:p@ss@broker:5672/vhost"];
			f.brokerUrl = "nats://user:hunter2@localhost:4222";
		});
		const text = JSON.stringify(buildResult(copy));
		for (const secret of ["secret", "p@ss", "ss@broker", "hunter2"])
			expect(text).not.toContain(secret);
		expect(text).toContain("127.0.0.1:4222: connect: connection refused");
	});
});

describe("what the run folder says besides", () => {
	test("slowest messages, first offenders, resources, and the generator's floor", () => {
		const [stall] = fixtureResult("stall").runs;
		expect(stall?.slowest).toHaveLength(20);
		for (const m of stall?.slowest ?? [])
			expect(m.queuedNs + m.lagNs + m.serviceNs).toBe(m.responseNs);
		expect(stall?.slowest[0]?.responseNs).toBe(stall?.metrics.response?.max);
		expect(stall?.series.resources.length).toBeGreaterThan(10);
		expect(stall?.floor).toBeNull();
		const [lost] = fixtureResult("lost").runs;
		expect(lost?.offenders).toEqual({ lost: { producer: 0, sequence: 3000, intendedNs: 3e9 } });
		expect(lost?.series.resources).toEqual([]);
		const [healthy] = fixtureResult("healthy").runs;
		expect(healthy?.floor).toMatchObject({
			folder: "floors/01-256B-1000-s",
			problem: null,
			count: 5000,
		});
		expect(healthy?.validity.find((c) => c.check === "floor")).toMatchObject({
			status: "ok",
			figure: "41.2us",
		});
	});

	test("a floor that was not measured to its end says so, and decides nothing", () => {
		const copy = fixtureCopy("healthy");
		rmSync(join(copy, "floors/01-256B-1000-s/client-0.hlog"));
		const result = buildResult(copy);
		expect(result.verdict).toBe("pass");
		expect(result.runs[0]?.validity.find((c) => c.check === "floor")).toMatchObject({
			status: "unknown",
		});
	});
});

test("a run that mqbench stopped, as an SLA could not pass any more: FAIL, exit code 99", () => {
	const copy = fixtureCopy("interrupted");
	const run = firstRun(copy);
	editJson(join(run, "run.json"), (f) => {
		f.interruptedBy = null;
		f.abortedBy = "p99 < 20ms";
	});
	const result = buildResult(copy);
	expect(result).toMatchObject({ verdict: "fail", errorCause: null });
	expect(result.runs[0]).toMatchObject({
		state: "aborted",
		abortedBy: "p99 < 20ms",
		verdict: "fail",
		notOffered: 2000,
	});
	expect(exitCodeOf(result)).toBe(99);
	expect(wordsOf(renderHtml(result))).not.toMatch(/NaN|undefined/);
});

describe("a queue that grows", () => {
	const growing = (fixtureName: string, runs: number[]) => {
		const copy = fixtureCopy(fixtureName);
		for (const i of runs)
			for (const client of ["client-0.jsonl", "client-1.jsonl"]) {
				const path = join(runFoldersOf(copy)[i] as string, client);
				if (!existsSync(path)) continue;
				let waiting = 0;
				editLines(path, (lines) => {
					for (const t of lines.filter((l) => l.type === "tick"))
						t.backlog = t.backlog.map(() => (waiting += 5));
					return undefined;
				});
			}
		return buildResult(copy);
	};

	test("fails the run and the result, exit code 99, though no SLA line does", () => {
		const result = growing("healthy", [0]);
		expect(result.verdict).toBe("fail");
		expect(exitCodeOf(result)).toBe(99);
		expect(result.gates.map((g) => g.verdict)).toEqual(["inconclusive", "pass"]);
		expect(wordsOf(renderHtml(result))).toContain("the system does not carry this rate");
	});

	test("in one repeat of three leaves it open, in two of them fails", () => {
		// 0, 2 and 4 are the repeats of one system.
		expect(growing("repeats", [0]).verdict).toBe("inconclusive");
		expect(growing("repeats", [0, 2]).verdict).toBe("fail");
	});
});

describe("gates over repeats", () => {
	test("one repeat never made is an error, and never a pass", () => {
		const copy = fixtureCopy("repeats");
		const last = runFoldersOf(copy)[5] as string;
		for (const name of [
			"run.json",
			"client-0.hlog",
			"client-0.jsonl",
			"client-1.hlog",
			"client-1.jsonl",
		])
			rmSync(join(last, name));
		const result = buildResult(copy);
		expect(result).toMatchObject({ verdict: "error", errorCause: "environment" });
		expect(exitCodeOf(result)).toBe(3);
		expect(result.runs[5]).toMatchObject({
			state: "never",
			received: null,
			intended: 2000,
			metrics: { response: null },
		});
		expect(result.gates[2]).toMatchObject({ verdict: "error" });
		expect(result.gates[0]).toMatchObject({ verdict: "pass" });
	});
});

test("a count that does not add up is a bug of mqbench: exit code 1", () => {
	const copy = fixtureCopy("healthy");
	editLines(join(firstRun(copy), "client-0.jsonl"), (lines) => {
		lines.find((l) => l.type === "counters" && l.scope === "window").sent++;
		return undefined;
	});
	const result = buildResult(copy);
	expect(result).toMatchObject({ verdict: "error", errorCause: "internal" });
	expect(exitCodeOf(result)).toBe(1);
});

test("a run that broke off in the middle of its files is no bug of mqbench", () => {
	for (const [signal, verdict, code] of [
		[null, "error", 3],
		["SIGTERM", "interrupted", 143],
	] as const) {
		const copy = fixtureCopy("stall");
		const run = firstRun(copy);
		for (const [name, share] of [
			["client-0.hlog", 0.7],
			["client-0.jsonl", 0.4],
		] as const) {
			const bytes = readFileSync(join(run, name));
			rmSync(join(run, name));
			writeFileSync(join(run, `${name}.part`), bytes.subarray(0, bytes.length * share));
		}
		editJson(join(run, "run.json"), (f) => {
			f.interruptedBy = signal;
		});
		const result = buildResult(copy);
		expect(result).toMatchObject({ verdict });
		expect(exitCodeOf(result)).toBe(code);
		// Partial data is still shown.
		const response = result.runs[0]?.metrics.response;
		expect(response?.count).toBeGreaterThan(1000);
		expect(response?.percentiles[0]?.value).toBeGreaterThan(0);
		expect(wordsOf(renderHtml(result))).not.toMatch(/NaN|undefined/);
	}
});

test("a folder without runs is no run folder", () => {
	expect(() => buildResult(fixture("healthy/golden"))).toThrow("is not the folder of a run");
});

test("a run whose plan is gone makes an error that names it, and no smaller result that passes", () => {
	const folder = fixtureCopy("repeats");
	const [, second = ""] = runFoldersOf(folder);
	rmSync(join(second, "plan.json"));
	const { verdict, runs, damaged } = buildResult(folder);
	expect([verdict, runs.length]).toEqual(["error", 5]);
	expect(damaged).toEqual([
		{
			file: `runs/${basename(second)}/plan.json`,
			why: "cannot be read (there is no such file), so this run is left out",
		},
	]);
	// A file next to them is not a run.
	const whole = fixtureCopy("repeats");
	writeFileSync(join(whole, "runs", ".DS_Store"), "");
	expect(buildResult(whole).verdict).toBe("inconclusive");
});
