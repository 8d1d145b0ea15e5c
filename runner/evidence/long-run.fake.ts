import { createHash } from "node:crypto";
import { closeSync, cpSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { basename, join } from "node:path";
import { deflateSync } from "node:zlib";
import { seeded } from "../histogram/random.fake.ts";
import { acrossClients, type Plan } from "../model/plan.ts";
import { intervalSeconds } from "../plan/derive.ts";
import { built, type Fate, planOf, steady } from "./built.fake.ts";
import { firstRun } from "./fixture.fake.ts";

/** A folder with one healthy run of any length: ten intervals, of a second or more, are built message by message and repeated. */
export function writeLongRun(
	folder: string,
	{
		hours,
		perInterval = 100,
		clients = 1,
	}: { hours: number; perInterval?: number; clients?: number },
): void {
	const seconds = hours * 3600;
	const plan = planOf({
		...(clients > 1 ? { pattern: "work-queue" as const, consumers: clients } : {}),
		client: { count: clients, index: 0 },
		schedule: steady(perInterval, 0, seconds),
		sla: [
			{
				kind: "percentile",
				metric: "response",
				percentile: 99,
				op: "<",
				limitNs: 20e6,
				text: "p99 < 20ms",
				abort: false,
			},
		],
		limits: [{ metric: "response", limitNs: 20e6 }],
		producers: clients,
		connections: clients,
		drainNs: 30e9,
	});
	const each = intervalSeconds(plan) ?? 1;
	const random = seeded(1);
	const fates = Array.from({ length: TEN * perInterval }, (_, i): Fate => {
		const tookNs = Math.round(1e5 * Math.exp(1.5 * random()));
		return { receivedNs: [Math.floor((i * 1e9) / perInterval) + tookNs] };
	});
	const ten = firstRun(
		built({ ...plan, schedule: { ...plan.schedule, ...steady(perInterval, 0, TEN) } }, fates),
	);
	const run = join(folder, "runs", basename(ten));
	cpSync(ten, run, { recursive: true });
	const intervals = seconds / each;
	const schedule = {
		...plan.schedule,
		...steady(perInterval, 0, intervals),
		rate: { messages: perInterval, perNs: each * 1e9 },
		durationNs: seconds * 1e9,
	};
	const long = { ...plan, schedule, ...(each > 1 ? { intervalSeconds: each } : {}) };
	writeFileSync(join(run, "plan.json"), JSON.stringify(long));
	for (let client = 0; client < clients; client++)
		prolong(run, client, long, intervals / TEN, each);
	const samples = new Lines(join(run, "resources.jsonl"));
	for (let at = 0; at <= seconds; at += Math.min(10, each)) samples.add(resourcesAt(at));
	samples.close();
}

// --- internal ---

const TEN = 10;
const T0_MS = 1_767_225_600_000;

function prolong(run: string, client: number, plan: Plan, times: number, each: number): void {
	const path = join(run, `client-${client}`);
	const linesOf = (file: string) => readFileSync(file, "utf8").trimEnd().split("\n").slice(0, -1);
	const [head = "", ...histograms] = linesOf(`${path}.hlog`);
	const lines = linesOf(`${path}.jsonl`).map((line) => JSON.parse(line));
	const hlog = new Lines(`${path}.hlog`);
	hlog.add(head);
	for (let k = 0; k < times; k++)
		for (const line of histograms)
			hlog.add(
				line.replace(
					/,(\d+)\.000,1\.000,/,
					(_, at) => `,${(Number(at) + k * TEN) * each}.000,${each}.000,`,
				),
			);
	const logEnd = hlog.close(
		(end) => `#[Trailer: lines=${end.lines},sha256=${end.sha256},state=complete]`,
	);
	const jsonl = new Lines(`${path}.jsonl`);
	const [first, ...rest] = lines;
	const repeated = rest.filter(({ type }) => /^(second|tick|completions)$/.test(type));
	const several = each > 1 ? { seconds: each } : {};
	jsonl.add(JSON.stringify(first));
	for (let k = 0; k < times; k++)
		for (const { second, at, ...line } of repeated) {
			const when =
				second === undefined
					? { at: (at + k * TEN) * each }
					: { second: (second + k * TEN) * each };
			jsonl.add(JSON.stringify({ ...line, ...when, ...several }));
		}
	const endNs = plan.schedule.durationNs;
	for (const line of rest.filter((line) => !repeated.includes(line))) {
		const scaled = { ...line };
		for (const [key, value] of Object.entries(line))
			if (typeof value === "number" && !/^(window|first)/.test(key)) scaled[key] = value * times;
		if (line.type === "totals") Object.assign(scaled, { endNs, lastReceiveNs: endNs });
		if (line.type === "breakdown")
			scaled.buckets = line.buckets.map(({ fromNs, toNs, ...sums }: Record<string, number>) => ({
				fromNs,
				toNs,
				...Object.fromEntries(Object.entries(sums).map(([key, sum]) => [key, sum * times])),
			}));
		jsonl.add(JSON.stringify(scaled));
	}
	jsonl.close((end) =>
		JSON.stringify({ type: "trailer", state: "complete", ...end, hlog: logEnd }),
	);
	if (acrossClients(plan)) writeFullLedger(`${path}.ledger`, client, plan);
}

/** Each client has the producer with its number, and receives everything that it sends. */
function writeFullLedger(path: string, producer: number, plan: Plan): void {
	const count = plan.schedule.messages / plan.producers;
	const bytes = Buffer.alloc(Math.ceil(count / 8), 0xff);
	if (count % 8 > 0) bytes[bytes.length - 1] = 2 ** (count % 8) - 1;
	const bits = deflateSync(bytes).toString("base64");
	const ledger = new Lines(path);
	for (const set of ["tried", "received"])
		ledger.add(JSON.stringify({ type: "set", set, producer, subscriber: 0, count, bits }));
	ledger.close((end) => JSON.stringify({ type: "trailer", ...end }));
}

function resourcesAt(at: number): string {
	const used = (cpuNs: number) => ({
		cpuNs: cpuNs * at,
		rssBytes: 6e7,
		readBytes: 0,
		writeBytes: 4096 * at,
	});
	return JSON.stringify({
		unixMs: T0_MS + at * 1000,
		generator: used(1e8),
		broker: used(2e8),
		machine: { cpuNs: 4e9 * at, idleNs: 3.6e9 * at, stealNs: 0, throttled: 0 },
	});
}

class Lines {
	readonly #file: number;
	readonly #hash = createHash("sha256");
	#waiting: string[] = [];
	#lines = 0;

	constructor(path: string) {
		this.#file = openSync(path, "w");
	}

	add(line: string): void {
		this.#waiting.push(`${line}\n`);
		this.#lines++;
		if (this.#waiting.length === 10_000) this.#flush();
	}

	close(trailer?: (end: { lines: number; sha256: string }) => string) {
		this.#flush();
		const end = { lines: this.#lines, sha256: this.#hash.digest("hex") };
		if (trailer) writeSync(this.#file, `${trailer(end)}\n`);
		closeSync(this.#file);
		return end;
	}

	#flush(): void {
		const bytes = Buffer.from(this.#waiting.join(""));
		this.#hash.update(bytes);
		writeSync(this.#file, bytes);
		this.#waiting = [];
	}
}
