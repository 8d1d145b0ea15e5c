import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildResult } from "../compare/build.ts";
import { built, type Fate, planOf, steady } from "../evidence/built.fake.ts";
import { firstRun } from "../evidence/fixture.fake.ts";
import { nextSegment, resumesAt } from "../evidence/segments.ts";
import { seeded } from "../histogram/random.fake.ts";
import type { Plan } from "../model/plan.ts";
import type { Run } from "../model/result.ts";
import { limit, once, p99, tally } from "./made.fake.ts";

const T0_MS = 1_767_225_600_000;
const S = 1e9;

/** 100/s for 30 s after 2 s, acknowledged. Each 97th message is lost, each 211th refused. */
const plan = (resumeNs: number, clients = 1): Plan =>
	planOf({
		schedule: steady(100, 2, 30),
		acks: true,
		producers: 2,
		connections: 2,
		topics: ["a", "b"],
		client: { count: clients, index: 0 },
		limits: [limit("response", 3)],
		sla: [p99("response", 3), tally("lost", "==", 0), tally("throughput", ">=", 90)],
		segments: { checkpointNs: 5 * S, resumeNs },
	});
const random = seeded(9);
const fates = Array.from({ length: 3200 }, (_, i): Fate => {
	const at = i * 1e7;
	const tookNs = Math.round((1 + random()) * 1.6e6);
	if (i % 211 === 5) return { failed: true };
	return { ackedNs: at + tookNs, receivedNs: [i % 97 === 3 ? null : at + tookNs + 1000] };
});

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const bodyOf = (file: string) => fs.readFileSync(file, "utf8").trimEnd().split("\n").slice(0, -1);
const edit = (file: string, change: (text: string) => string) =>
	fs.writeFileSync(file, change(fs.readFileSync(file, "utf8")));
const text = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");
const resourcesAt = (t0Ms: number, fromS: number, toS: number) =>
	text(
		Array.from({ length: toS - fromS + 1 }, (_, k) =>
			JSON.stringify({
				unixMs: t0Ms + 1000 * (fromS + k),
				generator: { cpuNs: 1e8 * k, rssBytes: 1e6, readBytes: 0, writeBytes: 10 * k },
				broker: { cpuNs: 2e8 * k, rssBytes: 1e6 * (fromS + k), readBytes: 0, writeBytes: 0 },
				machine: { cpuNs: 2e9 * k, idleNs: 1e9 * k, stealNs: 0, throttled: 0 },
			}),
		),
	);

/** The files of a client that was killed at 19.5 s since T0: checkpoints at 12 s and 17 s, then what was written until the end. */
function cutFiles(run: string, clients: number): void {
	const sent = fates.map((fate, i): Fate => (i < 1950 ? fate : { sentNs: null }));
	const all = firstRun(built(plan(0, clients), sent));
	const lineS = (line: string) => {
		const [, second, at] = /"second":(-?\d+)|"at":(\d+)/.exec(line) ?? [];
		return second === undefined ? Number(at) - 1 : Number(second) + 2;
	};
	const hlogS = (line: string) => Number(/^Tag=[^,]+,([\d.]+),/.exec(line)?.[1] ?? -1);
	for (let index = 0; index < clients; index++) {
		const file = (of: string, ending: string) => join(of, `client-${index}.${ending}`);
		const [head = "", ...rest] = bodyOf(file(all, "jsonl"));
		const written = rest.filter((line) => /"type":"(second|tick)"/.test(line));
		const histograms = bodyOf(file(all, "hlog"));
		const jsonl = [head];
		const hlog = histograms.filter((line) => hlogS(line) < 0);
		for (const [k, at] of [0, 12, 17].entries()) {
			const until = [12, 17][k];
			// What is older than the checkpoint, and three seconds more: those belong to no checkpoint yet.
			const due = (s: number) =>
				s >= (at && at + 3) && s < (until === undefined ? 19.5 : until + 3);
			jsonl.push(...written.filter((line) => due(lineS(line))));
			hlog.push(...histograms.filter((line) => due(hlogS(line))));
			if (until === undefined) continue;
			const { schedule, ...part } = plan(0, clients);
			const times = { ...schedule, ...steady(100, 2, until - 2) };
			const short = firstRun(built({ ...part, schedule: times }, sent.slice(0, 100 * until)));
			const own = bodyOf(file(short, "jsonl")).map((line) => JSON.parse(line));
			const lineOf = (type: string, scope?: string) =>
				own.find((line) => line.type === type && line.scope === scope);
			jsonl.push(
				JSON.stringify({
					type: "checkpoint",
					untilNs: until * S,
					counters: [lineOf("counters", "warmup"), lineOf("counters", "window")],
					totals: { ...lineOf("totals"), sentInWindow: 4711 },
					first: { lost: { producer: 0, sequence: 0, intendedNs: 2 * S + 3e7 } },
					slowest: lineOf("slowest").messages,
					lines: jsonl.length,
					sha256: sha256(text(jsonl)),
					hlog: { bytes: Buffer.byteLength(text(hlog)), sha256: sha256(text(hlog)) },
				}),
			);
		}
		// A crash leaves .part, whose last line may be torn.
		fs.writeFileSync(file(run, "jsonl.part"), `${text(jsonl)}{"type":"tick","at":2`);
		fs.writeFileSync(file(run, "hlog.part"), text(hlog));
	}
}

const GONE_MS = 720_000;

/** The run, cut at 19.5 s of its schedule and resumed 12 min later from the checkpoint at 17 s on, with a warm-up from 15 s. */
function cut(clients = 1) {
	const after = fates.map((fate, i): Fate => (i < 1500 ? { sentNs: null } : fate));
	const folder = built(plan(17 * S, clients), after, {
		windowStartNs: 17 * S,
		clockNs: Array.from({ length: clients }, () => GONE_MS * 1e6),
	});
	const run = firstRun(folder);
	fs.mkdirSync(join(run, "segment-1"));
	cutFiles(join(run, "segment-1"), clients);
	fs.writeFileSync(join(run, "segment-1/plan.json"), JSON.stringify(plan(0, clients)));
	fs.writeFileSync(join(run, "segment-1/resources.jsonl"), resourcesAt(T0_MS, 0, 19));
	fs.writeFileSync(join(run, "resources.jsonl"), resourcesAt(T0_MS + GONE_MS, 15, 32));
	return { folder, run };
}

function whole(clients = 1): Run {
	const folder = built(plan(0, clients), fates);
	fs.writeFileSync(join(firstRun(folder), "resources.jsonl"), resourcesAt(T0_MS, 0, 32));
	return buildResult(folder).runs[0] as Run;
}

const COUNTS = "intended notOffered sent acked failed unknown received lost late".split(" ");
const counts = (of: Run | Run["warmup"]) => COUNTS.map((name) => [name, of[name as "sent"]]);
const check = (of: Run | undefined, name: string) => of?.validity.find((one) => one.check === name);

describe("a run that was cut and resumed", () => {
	const both = once(() => ({ whole: whole(), cut: buildResult(cut().folder).runs[0] as Run }));

	test("has the counts, percentiles, seconds and rates of the same run without a cut", () => {
		const { whole, cut } = both();
		expect(cut.state).toBe("complete");
		expect(counts(cut)).toEqual(counts(whole));
		expect(counts(cut.warmup)).toEqual(counts(whole.warmup));
		expect(cut.intended).toBe(3000);
		expect(cut.metrics).toEqual(whole.metrics);
		expect(cut.slowest).toEqual(
			whole.slowest.filter((m) => cut.slowest.some((one) => one.sequence === m.sequence)),
		);
		expect(cut.slowest[0]).toEqual(whole.slowest[0]);
		expect(cut.series.seconds).toEqual(whole.series.seconds);
		expect(cut.series.heat).toEqual(whole.series.heat);
		const ticks = (of: Run) =>
			of.series.ticks.map(({ at, sent, received }) => [at, sent, received]);
		expect(ticks(cut)).toEqual(ticks(whole));
		expect(cut.throughput).toEqual(whole.throughput);
		expect(cut.offenders.lost).toEqual({ producer: 0, sequence: 0, intendedNs: 2 * S + 3e7 });
		expect(check(cut, "identities")?.status).toBe("ok");
		expect(cut.verdict).toBe(whole.verdict);
	});

	test("states the gap, in time and in messages", () => {
		const { whole, cut } = both();
		const found = check(cut, "continued");
		expect(found).toMatchObject({
			status: "warn",
			figure: "1 gap",
			values: { resumedFromNs: [17 * S] },
		});
		// 17 s to 19.5 s: 250 messages; the last whole second that was written ends at 19 s or 20 s.
		const { cutNs, messages } = (found?.values ?? {}) as { cutNs: number[]; messages: number[] };
		expect(cutNs[0]).toBeGreaterThanOrEqual(19 * S);
		expect(messages[0]).toBeGreaterThan(190);
		expect(messages[0]).toBeLessThanOrEqual(250);
		expect(found?.detail).toMatch(
			/^cut 1[78](\.\d+)?s into the window \(2026-01-01 00:00:\d\d UTC\), resumed at 2026-01-01 00:12:15 UTC from 15s on; 2\d\d messages/,
		);
		expect(check(whole, "continued")).toBeUndefined();
	});

	test("has one time axis of resources, without a step where counters began again", () => {
		const { cut } = both();
		const points = cut.series.resources;
		const times = points.map(({ at }) => at);
		expect(times).toEqual(times.toSorted((a, b) => a - b));
		expect(times.at(-1)).toBe(32);
		for (const { generator, machine, broker, at } of points.filter(({ at }) => at !== 17)) {
			expect(generator?.cores).toBeCloseTo(0.1, 5);
			expect(machine.busyCores).toBeCloseTo(1, 5);
			expect(broker?.rssBytes).toBe(1e6 * at);
		}
	});

	test("of two clients has each client's counts", () => {
		const [one, two] = [whole(2), buildResult(cut(2).folder).runs[0] as Run];
		expect(two.state).toBe("complete");
		expect(counts(two)).toEqual(counts(one));
		expect(two.metrics).toEqual(one.metrics);
		const each = (of: Run) => of.clients.map((c) => [c.intended, c.sent, c.lagP99]);
		expect(each(two)).toEqual(each(one));
	});

	test("whose first files were changed is not whole", () => {
		const { folder, run } = cut();
		const file = join(run, "segment-1/client-0.hlog.part");
		edit(file, (text) => text.replace("Tag=response,5.000", "Tag=response,6.000"));
		const [changed] = buildResult(folder).runs;
		expect(changed?.verdict).toBe("error");
		expect(changed?.why).toMatch(/segment-1\/client-0.jsonl and .hlog do not match the checkpoint/);
	});
});

describe("a run that was cut goes on", () => {
	const at = (edit: (run: string) => void, clients = 1) => {
		const run = firstRun(built(plan(0, clients), []));
		for (const name of fs.readdirSync(run)) if (/^client/.test(name)) fs.rmSync(join(run, name));
		cutFiles(run, clients);
		edit(run);
		return resumesAt(run, plan(0, clients));
	};

	test("from its last checkpoint", () => {
		expect(at(() => {})).toBe(17 * S);
		expect(at(() => {}, 2)).toBe(17 * S);
	});

	test("from the one before, if what was written then is not on the disk", () => {
		const cutOff = (text: string) => text.replaceAll(/^Tag=\w+,19\..*\n/gm, "");
		expect(at((run) => edit(join(run, "client-0.hlog.part"), cutOff))).toBe(12 * S);
		const changed = (text: string) => text.replace('"second":13,', '"second":14,');
		expect(at((run) => edit(join(run, "client-0.jsonl.part"), changed))).toBe(12 * S);
	});

	test("nowhere without one, or without a client's files", () => {
		expect(at((run) => fs.rmSync(join(run, "client-0.jsonl.part")))).toBeNull();
		expect(at((run) => fs.rmSync(join(run, "client-1.jsonl.part")), 2)).toBeNull();
	});

	test("from where its segment began, if that was cut before its first checkpoint", () => {
		const { folder, run } = cut();
		const into = nextSegment(run);
		expect(into).toBe(join(run, "segment-2"));
		fs.mkdirSync(into);
		for (const name of fs.readdirSync(run))
			if (!/^segment|^plan|^run/.test(name)) fs.renameSync(join(run, name), join(into, name));
		fs.writeFileSync(join(into, "plan.json"), JSON.stringify(plan(17 * S)));
		expect(resumesAt(run, plan(17 * S))).toBe(17 * S);
		// Nothing of it counts, and a third segment is the rest of the run.
		const third = cut();
		for (const name of fs.readdirSync(third.run))
			if (!fs.existsSync(join(run, name))) fs.renameSync(join(third.run, name), join(run, name));
		const [run3] = buildResult(folder).runs as [Run];
		expect(counts(run3)).toEqual(counts(whole()));
		expect(check(run3, "continued")?.figure).toBe("2 gaps");
	});
});
