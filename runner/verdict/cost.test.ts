import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { built, type Fate, planOf, steady } from "../evidence/built.fake.ts";
import { collect } from "../evidence/collect.ts";
import { editJson, editLines, firstRun } from "../evidence/fixture.fake.ts";
import type { Plan } from "../model/plan.ts";
import { parseSla } from "../scenario/sla.ts";
import { costOf } from "./cost.ts";
import type { Any } from "./judged.fake.ts";
import { judgeTally } from "./tally.ts";

/** 200/s for 9 s after 1 s of warm-up. */
const MESSAGES = 1800;
const WINDOW_S = [1, 10] as const;

/** Cores in use: little before the window, and after it less. */
const coresAt = (s: number) => (s < WINDOW_S[0] ? 0.2 : s < WINDOW_S[1] ? 0.5 : 0.05);

/** The sum of small steps, where the code interpolates between samples. */
function used(untilS: number, perSecond: number): number {
	let sum = 0;
	for (let ms = -2000; ms < untilS * 1000; ms++) sum += coresAt(ms / 1000) * perSecond * 1e-3;
	return Math.round(sum);
}

interface Sampled {
	readonly broker?: boolean;
	readonly atS?: readonly number[];
	readonly network?: boolean;
}

/** As the runner samples: every second, and at the edges of the window. */
const EVERY = [-0.63, 0.37, 1, 1.37, 2.37, 5.37, 9.37, 10, 10.37, 11.37];

function sample(t0Ms: number, { broker = true, atS = EVERY, network = false }: Sampled) {
	return atS.map((s) => {
		const [cpuNs, writeBytes] = [5e9 + used(s, 1e9), 7000 + used(s, 400_000)];
		return {
			unixMs: t0Ms + s * 1000,
			generator: null,
			broker: broker ? { cpuNs, waitNs: null, rssBytes: 1, readBytes: 0, writeBytes } : null,
			machine: { cpuNs: null, idleNs: null, stealNs: null, throttled: null },
			network: network ? { rxBytes: 0, txBytes: 1e6 + used(s, 60_000) } : null,
		};
	});
}

interface Changed {
	readonly plan?: Partial<Plan>;
	readonly fates?: ((i: number) => Fate) | undefined;
	/** Null: no file. */
	readonly here?: Sampled | null;
	readonly nodes?: readonly Sampled[];
	readonly run?: Any;
	readonly lines?: (lines: Any[]) => Any[] | undefined;
}

const prompt = (i: number): Fate => ({ receivedNs: [i * 5e6 + 1e6] });

function collected(changed: Changed = {}) {
	const { plan = {}, fates = prompt, here = {}, nodes = [], run = {}, lines } = changed;
	const made = planOf({ ...plan, schedule: steady(200, 1, 9) });
	const all = Array.from({ length: 2000 }, (_, i) => fates(i));
	const folder = firstRun(built(made, all));
	editJson(join(folder, "run.json"), (file) => Object.assign(file, run));
	if (lines) editLines(join(folder, "client-0.jsonl"), lines);
	const { t0Ms } = collect(folder);
	const files = [
		...(here === null ? [] : [["resources.jsonl", here] as const]),
		...nodes.map((node, i) => [`resources-broker-${i + 1}.jsonl`, node] as const),
	];
	for (const [name, of] of files) {
		const texts = sample(t0Ms as number, of).map((line) => `${JSON.stringify(line)}\n`);
		writeFileSync(join(folder, name), texts.join(""));
	}
	return collect(folder);
}

const PER_MESSAGE_NS = (0.5 * 9e9) / MESSAGES;

describe("what a delivered message took", () => {
	test("is what the broker used between the edges of the window, by messages delivered there", () => {
		const cost = costOf(collected());
		expect(cost).toMatchObject({ messages: MESSAGES, networkPerMessageBytes: null });
		expect(cost?.cpuPerMessageNs).toBeCloseTo(PER_MESSAGE_NS, -2);
		expect(cost?.messagesPerCoreSecond).toBeCloseTo(400, 1);
		expect(cost?.diskPerMessageBytes).toBeCloseTo((0.5 * 9 * 400_000) / MESSAGES, 0);
	});

	test("has the generator's own count of its CPU time, whoever sampled it", () => {
		const cpuNs = 80e6;
		const lines = (all: Any[]) => {
			for (const line of all) if (line.type === "tick") line.cpuNs = line.at > 1 ? cpuNs : 7e9;
			return undefined;
		};
		const cost = costOf(collected({ here: null, lines }));
		expect(cost).toMatchObject({ cpuPerMessageNs: null, diskPerMessageBytes: null });
		expect(cost?.generatorCpuPerMessageNs).toBeCloseTo((9 * cpuNs) / MESSAGES, 3);
		expect(cost?.generatorMessagesPerCoreSecond).toBeCloseTo(1e9 / ((9 * cpuNs) / MESSAGES), 1);
	});

	test("is per copy in a fan-out, and per acknowledgement without consumers", () => {
		const messages = (plan: Partial<Plan>, fates: Changed["fates"]) =>
			costOf(collected({ plan, fates }))?.messages;
		const fanOut = { pattern: "fan-out", subscriptions: 2, consumers: 2 } as const;
		const copies = (i: number) => ({ receivedNs: [i * 5e6 + 1e6, i * 5e6 + 2e6] });
		expect(messages(fanOut, copies)).toBe(2 * MESSAGES);
		const acked = (i: number) => ({ ackedNs: i * 5e6 + 1e6 });
		expect(messages({ pattern: "publish", acks: true }, acked)).toBe(MESSAGES);
	});

	test("is not known without a broker's process, without samples around the window, or where one node was not seen", () => {
		const cpuOf = (changed: Changed) => costOf(collected(changed))?.cpuPerMessageNs;
		expect(cpuOf({ here: { broker: false } })).toBeNull();
		expect(cpuOf({ plan: { server: false } })).toBeNull();
		expect(cpuOf({ plan: { loads: 2 } })).toBeNull();
		expect(cpuOf({ here: { atS: EVERY.filter((s) => s < 10) } })).toBeNull();
		expect(cpuOf({ nodes: [{}, {}] })).toBeCloseTo(2 * PER_MESSAGE_NS, -3);
		expect(cpuOf({ nodes: [{}, { broker: false }] })).toBeNull();
		expect(costOf(collected({ run: { interruptedBy: "SIGINT" } }))).toBeNull();
	});

	test("says how far it may be off without a sample at the end, and is null if that is too far", () => {
		const without = (...times: number[]) =>
			costOf(collected({ here: { atS: EVERY.filter((s) => !times.includes(s)) } }));
		const { cpuPerMessageNs, cpuWithinNs } = without(10) ?? {};
		const off = Math.abs((cpuPerMessageNs ?? 0) - PER_MESSAGE_NS);
		expect(off).toBeGreaterThan(0.02 * PER_MESSAGE_NS);
		expect(off).toBeLessThan(cpuWithinNs ?? 0);
		expect(without(10, 9.37, 10.37)).toMatchObject({
			cpuPerMessageNs: null,
			messagesPerCoreSecond: null,
		});
	});

	test("has what the broker's hosts sent, only if nothing else ran there", () => {
		const sent = (run: Any) =>
			costOf(collected({ nodes: [{ network: true }, { network: true }], run }))
				?.networkPerMessageBytes;
		expect(sent({ sameHost: false })).toBeCloseTo((2 * 0.5 * 9 * 60_000) / MESSAGES, 0);
		expect(sent({ sameHost: true })).toBeNull();
		expect(sent({ sameHost: false, nodesShareHost: true })).toBeNull();
	});
});

describe("an SLA line about it", () => {
	const judged = (line: string, changed: Changed = {}) => {
		const sla = parseSla(line);
		if (sla.kind !== "tally") throw new Error(line);
		return judgeTally(sla, collected(changed));
	};

	test.each([
		["cpu per message < 2600us", "pass", "2.5ms of broker CPU time per message"],
		[
			"cpuPerMessage < 2ms",
			"fail",
			"2.5ms of broker CPU time per message; the SLA asks for less than 2ms",
		],
		[
			"cpu per message < 2490us",
			"inconclusive",
			"2.5ms of the broker's CPU time per message is exact to ±27.8us, and the limit lies within; a longer window decides",
		],
		["disk per message <= 1KiB", "pass", "1000B of broker disk writes per message"],
		[
			"disk per message < 1KB",
			"fail",
			"1000B of broker disk writes per message; the SLA asks for less than 1KB",
		],
	])("%s: %s", (line, expected, why) => {
		expect(judged(line)).toMatchObject({ verdict: expected, why });
	});

	test("is open where the broker was not sampled", () => {
		const why = "broker CPU time per message was not measured";
		const open = { verdict: "inconclusive", measured: "n/a", limit: "1ms", why };
		expect(judged("cpu per message < 1ms", { here: null })).toMatchObject(open);
	});
});
