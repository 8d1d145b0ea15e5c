import { createHash, type Hash } from "node:crypto";
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { encodeIntoCompressedBase64 } from "hdr-histogram-js";
import { histogramOf, seeded } from "../histogram/random.fake.ts";
import { crosses, type Plan } from "../model/plan.ts";
import { intervalSeconds } from "../plan/interval.ts";
import { planOf, steady } from "./built.fake.ts";

const WARMUP_S = 5;
const T0_MS = 1_767_225_600_000;

/**
 * For tests: the folder of a result with one healthy run, as long as is asked for, written as the generator writes it. Each second, or what is recorded as one, has
 * histograms, counts, ten samples of the queue, completions and resources; ten seconds that differ come again and again.
 */
export function writeLongRun(
	folder: string,
	{ hours, perSecond = 100, clients = 1 }: { hours: number; perSecond?: number; clients?: number },
): Plan {
	const seconds = hours * 3600;
	const plan = planOf({
		...(clients > 1 ? { pattern: "work-queue" as const, consumers: clients } : {}),
		client: { count: clients, index: 0 },
		schedule: steady(perSecond, WARMUP_S, seconds),
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
	plan.intervalSeconds = intervalSeconds(plan);
	const run = join(folder, "runs", "01-nats");
	mkdirSync(run, { recursive: true });
	writeFileSync(join(run, "plan.json"), JSON.stringify(plan));
	writeFileSync(join(run, "run.json"), JSON.stringify(runFile(seconds)));
	for (let client = 0; client < clients; client++) writeClient(run, plan, client, seconds);
	return plan;
}

// --- internal ---

function runFile(seconds: number): object {
	return {
		schema: 1,
		startedAt: new Date(T0_MS).toISOString(),
		endedAt: new Date(T0_MS + (WARMUP_S + seconds) * 1000).toISOString(),
		k6Exit: 0,
		k6Signal: null,
		error: null,
		notes: [],
		interruptedBy: null,
		abortedBy: null,
		sameHost: true,
		brokerUrl: "nats://127.0.0.1:4222",
		brokerVersion: "2.15.2",
		brokerBinary: null,
	};
}

function writeClient(run: string, plan: Plan, client: number, seconds: number): void {
	const own = (plan.schedule.rate?.messages ?? 0) / plan.client.count;
	const { intervalSeconds: each = 1 } = plan;
	const kinds = Array.from({ length: 10 }, (_, i) => kindOf(own, i));
	const several = Array.from({ length: 10 }, (_, i) =>
		each > 1 ? kindOf(own * each, i, each) : kinds[i],
	);
	/** When each interval begins: a second of the warm-up, or `each` of the window. */
	const starts = Array.from(
		{ length: WARMUP_S + seconds / each },
		(_, i) => Math.min(i, WARMUP_S) + Math.max(0, i - WARMUP_S) * each,
	);
	const kindAt = (at: number, i: number) =>
		(at < WARMUP_S ? kinds : several)[i % kinds.length] as Kind;
	const hlog = new Lines(join(run, `client-${client}.hlog`));
	hlog.add("#[Histogram log format version 1.3]");
	for (const [i, at] of starts.entries())
		for (const [metric, { encoded }] of Object.entries(kindAt(at, i).metrics))
			hlog.add(
				`Tag=${metric}${at < WARMUP_S ? ".warmup" : ""},${at}.000,${at < WARMUP_S ? 1 : each}.000,0.0,${encoded}`,
			);
	const logEnd = hlog.close(
		({ lines, sha256 }) => `#[Trailer: lines=${lines},sha256=${sha256},state=complete]`,
	);
	const jsonl = new Lines(join(run, `client-${client}.jsonl`));
	jsonl.add(json(clientLine(client)));
	for (const [i, at] of starts.entries()) {
		const kind = kindAt(at, i);
		const end = starts[i + 1] ?? WARMUP_S + seconds;
		jsonl.add(kind.second.replace("SECOND", String(at - WARMUP_S)));
		jsonl.add(kind.tick(crosses(plan)).replace("AT", String(end)));
	}
	// By real time, from T0 on.
	for (let at = 0; at < WARMUP_S + seconds; at += each)
		jsonl.add(
			(several[(at / each) % several.length] as Kind).completions.replace("SECOND", String(at)),
		);
	const messages = own * seconds;
	for (const [scope, n] of [
		["warmup", own * WARMUP_S],
		["window", messages],
	] as const)
		jsonl.add(json(countersLine(plan, scope, n)));
	jsonl.add(json(totalsLine(messages, seconds)));
	jsonl.add(json({ type: "offenders", first: {} }));
	jsonl.add(json({ type: "slowest", messages: [] }));
	jsonl.close((end) => json({ type: "trailer", state: "complete", ...end, hlog: logEnd }));
	if (crosses(plan)) writeLedger(run, client, own * (WARMUP_S + seconds));
	if (client > 0) return;
	const samples = new Lines(join(run, "resources.jsonl"));
	for (let at = 0; at <= WARMUP_S + seconds; at++) samples.add(json(resourcesAt(at)));
	samples.end();
}

/** A client's producer is the one of its number, and everything that it sent it has received itself. */
function writeLedger(run: string, producer: number, sequences: number): void {
	const bytes = Buffer.alloc(Math.ceil(sequences / 8), 0xff);
	if (sequences % 8 > 0) bytes[bytes.length - 1] = 2 ** (sequences % 8) - 1;
	const bits = deflateSync(bytes).toString("base64");
	const ledger = new Lines(join(run, `client-${producer}.ledger`));
	for (const set of ["tried", "received"])
		ledger.add(json({ type: "set", set, producer, subscriber: 0, count: sequences, bits }));
	ledger.close((end) => json({ type: "trailer", ...end }));
}

/** One of the ten seconds. */
interface Kind {
	readonly metrics: Readonly<Record<string, { readonly encoded: string }>>;
	readonly second: string;
	readonly completions: string;
	tick(crossing: boolean): string;
}

/** Of `messages` in so many seconds. */
function kindOf(messages: number, i: number, seconds = 1): Kind {
	const several = seconds > 1 ? { seconds } : {};
	const random = seeded(i + 1);
	const values = Array.from({ length: messages }, () => Math.round(1e5 * Math.exp(1.5 * random())));
	const lags = values.map((ns) => Math.round(ns / 10));
	const services = values.map((ns, m) => ns - (lags[m] ?? 0));
	const queued = values.map(() => 0);
	const metrics = Object.fromEntries(
		Object.entries({ response: values, service: services, lag: lags, queued }).map(
			([metric, all]) => {
				const sum = all.reduce((a, b) => a + b, 0);
				const sorted = all.toSorted((a, b) => a - b);
				const [min, max] = [sorted[0] ?? 0, sorted.at(-1) ?? 0];
				const figures = { count: messages, sum, min, max };
				const encoded = encodeIntoCompressedBase64(histogramOf(all));
				return [metric, { encoded, figures: { ...figures, clamped: 0, negative: 0 } }];
			},
		),
	);
	const tenths = Array.from({ length: 10 }, () => messages / 10);
	const none = tenths.map(() => 0);
	const backlog = tenths.map(() => Math.floor(3 * random()));
	const tick = (more: object) =>
		json({
			type: "tick",
			...several,
			sent: messages,
			acked: null,
			received: messages,
			inFlight: backlog.at(-1),
			backlog,
			held: none,
			...more,
			cpuNs: 1e8 * seconds,
			gcPauseNs: 1e5 * seconds,
			gcCycles: 1,
			at: "AT",
		}).replace('"AT"', "AT");
	const ticks = [tick({}), tick({ outstanding: backlog })];
	return {
		metrics,
		second: json({
			type: "second",
			...several,
			metrics: Object.fromEntries(
				Object.entries(metrics).map(([name, { figures }]) => [name, figures]),
			),
			limits: [{ count: tenths, over: none, overWithoutLag: none }],
			second: "SECOND",
		}).replace('"SECOND"', "SECOND"),
		completions: json({
			type: "completions",
			...several,
			counts: Array.from(
				{ length: 100 },
				(_, i) => Math.floor(((i + 1) * messages) / 100) - Math.floor((i * messages) / 100),
			),
			second: "SECOND",
		}).replace('"SECOND"', "SECOND"),
		tick: (crossing) => ticks[Number(crossing)] as string,
	};
}

function clientLine(index: number): object {
	return {
		type: "client",
		schema: 1,
		index,
		t0UnixNs: `${T0_MS}000000`,
		versions: {
			k6: "v2.1.0",
			mqbench: "0.1.0",
			go: "go1.26.0",
			driver: "nats",
			library: "nats.go v1.52.0",
			server: "nats-server 2.15.2",
		},
		driverOptions: {},
		capabilities: { acks: false, order: "none" },
		pacer: { timer: "none", leadNs: 0, spinNs: 0 },
		cores: 2,
	};
}

function countersLine(plan: Plan, scope: string, n: number): object {
	const own = crosses(plan) ? null : n;
	const none = crosses(plan) ? null : 0;
	return {
		type: "counters",
		scope,
		intended: n,
		notOffered: 0,
		sent: n,
		acked: null,
		failed: 0,
		unknown: 0,
		received: own,
		delivered: own,
		lost: none,
		duplicated: 0,
		reordered: null,
		failedReceived: none,
		unackedReceived: null,
		late: 0,
		redelivered: 0,
		corrupted: null,
		behind: none,
	};
}

function totalsLine(messages: number, seconds: number): object {
	const endNs = (WARMUP_S + seconds) * 1e9;
	return {
		type: "totals",
		clientDropped: 0,
		foreign: 0,
		reconnects: 0,
		sentInWindow: messages,
		ackedInWindow: null,
		receivedInWindow: messages,
		firstSendNs: WARMUP_S * 1e9,
		lastAckNs: null,
		firstReceiveNs: WARMUP_S * 1e9,
		lastReceiveNs: endNs,
		windowStartNs: WARMUP_S * 1e9,
		firstClaimNs: -1e8,
		endNs,
		cpuNs: seconds * 1e8,
		gcPauseNs: 0,
		gcCycles: 0,
		schedLatencyP999Ns: 1000,
		errors: [],
	};
}

function resourcesAt(at: number): object {
	const used = (cpuNs: number) => ({
		cpuNs: cpuNs * at,
		rssBytes: 6e7,
		readBytes: 0,
		writeBytes: 4096 * at,
	});
	return {
		unixMs: T0_MS + at * 1000,
		generator: used(1e8),
		broker: used(2e8),
		machine: { cpuNs: 4e9 * at, idleNs: 3.6e9 * at, stealNs: 0, throttled: 0 },
	};
}

const json = (value: object) => JSON.stringify(value);

/** A file of a client, written piece by piece. */
class Lines {
	readonly #file: number;
	readonly #hash: Hash = createHash("sha256");
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

	close(trailer: (end: { lines: number; sha256: string }) => string) {
		this.#flush();
		const end = { lines: this.#lines, sha256: this.#hash.digest("hex") };
		writeSync(this.#file, `${trailer(end)}\n`);
		closeSync(this.#file);
		return end;
	}

	end(): void {
		this.#flush();
		closeSync(this.#file);
	}

	#flush(): void {
		const bytes = Buffer.from(this.#waiting.join(""));
		this.#hash.update(bytes);
		writeSync(this.#file, bytes);
		this.#waiting = [];
	}
}
