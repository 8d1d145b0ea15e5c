import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeIntoCompressedBase64 } from "hdr-histogram-js";
import { onTestFinished } from "vitest";
import { histogramOf } from "../histogram/random.fake.ts";
import type { Totals } from "../model/client-file.ts";
import { CATCH_UP } from "../model/load.ts";
import { acrossClients, Metric, Plan } from "../model/plan.ts";
import type { RunFileInput } from "../model/run-file.ts";
import { messagesBefore, offsetNs } from "../plan/offset.ts";
import { mainMetric } from "../plan/samples.ts";
import { cycleOf } from "../plan/sizes.ts";
import { firstRun, fixture } from "./fixture.fake.ts";
import { setOf, writeLedger } from "./ledger.fake.ts";

/** The fate of one message. Times are ns since T0; null or left out means that it did not happen. */
export interface Fate {
	/** Send call, by default at the intended time; null if never sent. */
	readonly sentNs?: number | null;
	/** The system's part of the send call's lateness. */
	readonly queuedNs?: number;
	readonly ackedNs?: number | null;
	/** First receipt by each subscriber. */
	readonly receivedNs?: readonly (number | null)[];
	readonly failed?: boolean;
	/** The client with each receipt, by default in turns, by subscriber or message. */
	readonly receivedBy?: readonly number[];
	/** Clients that received a further copy, which each records as its first. */
	readonly againBy?: readonly number[];
	/** By default the same time. */
	readonly againNs?: number;
	/** Its send ended without an answer, and then it left flight. */
	readonly unanswered?: boolean;
}

export interface More {
	readonly windowStartNs?: number;
	readonly reconnects?: number;
	readonly throttledNs?: number;
	/** How long each client's machine was suspended; left out if the client does not record it. */
	readonly suspendedNs?: readonly number[];
	/** Billed requests of each client. */
	readonly requests?: number;
	/** Of each client, in the pattern connect. */
	readonly connections?: Totals["connections"];
	readonly sameHost?: boolean;
	readonly run?: Partial<RunFileInput>;
	/** First claim relative to T0, by client. */
	readonly firstClaimNs?: readonly number[];
	/** The error of each client's T0: its clock less this machine's, ns. */
	readonly clockNs?: readonly number[];
	readonly catchUp?: Totals["catchUp"];
	/** Clients without files. */
	readonly missing?: readonly number[];
	/** From a generator that did not count unanswered sends as unknown. */
	readonly older?: boolean;
}

/** The plan of the stored run "healthy" (1000/s for 5 s after 1 s), with some fields changed. */
export function planOf(
	changes: Partial<Omit<Plan, "schedule">> & { schedule?: Partial<Plan["schedule"]> },
): Plan {
	const text = readFileSync(join(firstRun(fixture("healthy")), "plan.json"), "utf8");
	const base = Plan.parse(JSON.parse(text));
	return Plan.parse({
		...base,
		sla: [],
		limits: [],
		...changes,
		schedule: { ...base.schedule, ...changes.schedule },
	});
}

export function steady(perSecond: number, warmupS: number, durationS: number) {
	return {
		kind: "constant" as const,
		rate: { messages: perSecond, perNs: 1e9 },
		warmupNs: warmupS * 1e9,
		durationNs: durationS * 1e9,
		warmupMessages: perSecond * warmupS,
		messages: perSecond * (warmupS + durationS),
	};
}

/** Steps after a warm-up at the first step's rate. */
export function inSteps(warmupS: number, steps: readonly { perSecond: number; seconds: number }[]) {
	const rate = (messages: number) => ({ messages, perNs: 1e9 });
	const [first] = steps as [(typeof steps)[number]];
	const all = [{ perSecond: first.perSecond, seconds: warmupS }, ...steps];
	let atS = 0;
	return {
		schedule: {
			kind: "stages" as const,
			rate: rate(Math.max(...steps.map((s) => s.perSecond))),
			pieces: all.map(({ perSecond, seconds }) => ({
				durationNs: seconds * 1e9,
				from: rate(perSecond),
				to: rate(perSecond),
			})),
			warmupNs: warmupS * 1e9,
			durationNs: steps.reduce((sum, s) => sum + s.seconds, 0) * 1e9,
			warmupMessages: first.perSecond * warmupS,
			messages: all.reduce((sum, s) => sum + s.perSecond * s.seconds, 0),
		},
		phases: steps.map(({ perSecond, seconds }) => {
			const fromNs = atS * 1e9;
			atS += seconds;
			return { name: `${perSecond}/s`, fromNs, toNs: atS * 1e9 };
		}),
	};
}

/**
 * A folder with one run as the generator writes it, from the fate of each message (number i of the plan at index i). It counts message by
 * message, and shares only the schedule with the code that reads it.
 */
export function built(plan: Plan, fates: readonly Fate[], more: More = {}): string {
	const folder = mkdtempSync(join(tmpdir(), "mqbench-built-"));
	onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
	addRun(folder, plan, fates, more);
	return folder;
}

export function addRun(folder: string, plan: Plan, fates: readonly Fate[], more: More = {}): void {
	const run = join(folder, "runs", `${String(plan.index).padStart(2, "0")}-${plan.system}`);
	mkdirSync(run, { recursive: true });
	writeFileSync(join(run, "plan.json"), JSON.stringify(plan));
	writeFileSync(
		join(run, "run.json"),
		JSON.stringify({
			schema: 1,
			startedAt: "2026-01-01T00:00:00.000Z",
			endedAt: "2026-01-01T00:01:00.000Z",
			k6Exit: 0,
			k6Signal: null,
			interruptedBy: null,
			abortedBy: null,
			error: null,
			notes: [],
			brokerUrl: "nats://127.0.0.1:4222",
			brokerVersion: "2.15.2",
			brokerBinary: null,
			brokerSettings: { sync_interval: "always" },
			sameHost: more.sameHost ?? true,
			...more.run,
		}),
	);
	const seen = messagesOf(plan, fates, more.windowStartNs);
	for (let client = 0; client < plan.client.count; client++)
		if (!more.missing?.includes(client)) writeClient(run, { plan, seen, client, more });
}

/** The client with message i's producer. */
export function senderOf(plan: Plan, i: number): number {
	// Another load's clients send what a catch-up reads.
	if (plan.pattern === CATCH_UP) return -1;
	const connection = (i % plan.producers) % plan.connections;
	return connection % plan.client.count;
}

// --- internal ---

interface One {
	readonly plan: Plan;
	readonly seen: Seen;
	readonly client: number;
	readonly more: More;
}

function writeClient(run: string, one: One): void {
	const { plan, client } = one;
	const hlog = hlogOf(one);
	const hlogBody = hlog.map((line) => `${line}\n`).join("");
	const hlogSum = sha256(hlogBody);
	writeFileSync(
		join(run, `client-${client}.hlog`),
		`${hlogBody}#[Trailer: lines=${hlog.length},sha256=${hlogSum},state=complete]\n`,
	);
	const lines = linesOf(one);
	const body = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
	const trailer = {
		type: "trailer",
		state: "complete",
		lines: lines.length,
		sha256: sha256(body),
		hlog: { lines: hlog.length, sha256: hlogSum },
	};
	writeFileSync(join(run, `client-${client}.jsonl`), `${body}${JSON.stringify(trailer)}\n`);
	if (acrossClients(plan) || plan.ledger)
		writeLedger(join(run, `client-${client}.ledger`), setsOf(one));
}

function setsOf({ plan, seen, client }: One) {
	const { producers } = plan;
	const sets: ReturnType<typeof setOf>[] = [];
	const sequences = (p: number, is: (m: Message) => boolean) =>
		seen.messages.flatMap((m, i) =>
			i % producers === p && is(m) ? [Math.floor(i / producers)] : [],
		);
	for (let p = 0; p < producers; p++) {
		if (senderOf(plan, p) === client) {
			sets.push(
				setOf(
					"tried",
					p,
					sequences(p, (m) => m.sentNs !== null || m.failed),
				),
				setOf(
					"failed",
					p,
					sequences(p, (m) => m.failed),
				),
			);
			if (plan.acks)
				sets.push(
					setOf(
						"acked",
						p,
						sequences(p, (m) => m.ackedNs !== null && !m.failed),
					),
				);
		}
		const copies = plan.pattern === "fan-out" ? plan.subscriptions : 1;
		for (let s = 0; s < copies; s++) {
			const received = sequences(
				p,
				(m) =>
					(m.receivedNs[s] != null && m.receivedBy[s] === client) ||
					(s === 0 && m.againBy.includes(client)),
			);
			if (received.length > 0) sets.push(setOf("received", p, received, s));
		}
	}
	return sets;
}

interface Seen {
	readonly windowStartNs: number;
	/** Origin of seconds: the planned start of the window, if given. */
	readonly zeroNs: number;
	readonly messages: readonly Message[];
}

interface Message extends Required<Fate> {
	readonly warmup: boolean;
	/** In a closed load the send call. */
	readonly dueNs: number;
	/** Expected receipts; 0 for publish. */
	readonly copies: number;
	readonly sender: number;
	/** Metric, ns, lag in it, and the client that recorded it. */
	readonly values: readonly (readonly [Metric, number, number, number])[];
}

function messagesOf(plan: Plan, fates: readonly Fate[], opened?: number): Seen {
	const closed = plan.schedule.kind === "closed";
	const publish = plan.pattern === "publish";
	const isBacklog = plan.pattern === "backlog";
	const copies = publish ? 0 : plan.pattern === "fan-out" ? plan.subscriptions : 1;
	const first =
		closed || opened === undefined
			? plan.schedule.warmupMessages
			: messagesBefore(plan.schedule, opened);
	const messages = fates.map((fate, i): Message => {
		const intended = closed ? 0 : offsetNs(plan.schedule, i);
		const sentNs = fate.sentNs === undefined ? intended : fate.sentNs;
		const dueNs = closed ? (sentNs ?? 0) : intended;
		const { queuedNs = 0, ackedNs = null, failed = false } = fate;
		const receivedNs = fate.receivedNs ?? [];
		const againNs = fate.againNs ?? receivedNs[0] ?? dueNs;
		const sender = senderOf(plan, i);
		const receivedBy = receivedNs.map((_, k) =>
			acrossClients(plan)
				? (fate.receivedBy?.[k] ?? (plan.pattern === "fan-out" ? k : i) % plan.client.count)
				: sender,
		);
		const values: [Metric, number, number, number][] = [];
		if (sentNs !== null && plan.pattern !== CATCH_UP) {
			const lag = closed ? 0 : sentNs - dueNs - queuedNs;
			if (!closed) values.push(["lag", lag, lag, sender], ["queued", queuedNs, 0, sender]);
			if (ackedNs !== null) values.push(["ack", ackedNs - dueNs, lag, sender]);
			const ends = publish ? [ackedNs] : receivedNs;
			const came = ends.filter((at) => at !== null);
			if (!isBacklog)
				for (const [k, at] of ends.entries()) {
					if (at === null) continue;
					const by = receivedBy[k] ?? sender;
					values.push(["service", at - sentNs, 0, by]);
					if (!closed) values.push(["response", at - dueNs, lag, by]);
				}
			for (const by of isBacklog ? [] : (fate.againBy ?? [])) {
				values.push(["service", againNs - sentNs, 0, by]);
				values.push(["response", againNs - dueNs, lag, by]);
			}
			if (plan.pattern === "fan-out" && !closed && !acrossClients(plan) && came.length === copies)
				values.push(["last", Math.max(...came) - dueNs, lag, sender]);
		}
		const warmup = i < first;
		return {
			sentNs,
			queuedNs,
			ackedNs,
			receivedNs,
			receivedBy,
			againBy: fate.againBy ?? [],
			againNs,
			unanswered: fate.unanswered ?? false,
			failed,
			warmup,
			dueNs,
			copies,
			sender,
			values,
		};
	});
	const { warmupNs } = plan.schedule;
	const windowStartNs = opened ?? warmupNs;
	return { windowStartNs, zeroNs: closed ? windowStartNs : warmupNs, messages };
}

function secondOf(seen: Seen, message: Message): number {
	return Math.floor((message.dueNs - seen.zeroNs) / 1e9);
}

/** A closed load's warm-up is not recorded. */
function recorded(plan: Plan, { messages }: Seen): Message[] {
	return messages.filter((m) => !(plan.schedule.kind === "closed" && m.warmup));
}

function hlogOf({ plan, seen, client }: One): string[] {
	const { sizes } = plan.message;
	const cycle = sizes && cycleOf(sizes, plan.message.seed);
	const values = new Map<string, { tag: string; second: number; all: number[] }>();
	for (const [i, m] of seen.messages.entries())
		for (const [metric, ns, , by] of m.values) {
			if (by !== client) continue;
			const second = secondOf(seen, m);
			const tags = [m.warmup ? `${metric}.warmup` : metric];
			const bytes = cycle?.[i % cycle.length] ?? 0;
			if (cycle && !m.warmup && metric === mainMetric(plan))
				tags.push(`${metric}.${sizes?.classes.find((most) => bytes <= most)}B`);
			for (const tag of tags) {
				const key = `${tag} ${second}`;
				const found = values.get(key) ?? { tag, second, all: [] };
				found.all.push(Math.max(0, ns));
				values.set(key, found);
			}
		}
	return [
		"#[Histogram log format version 1.3]",
		...[...values.values()]
			// A closed load has no histograms of its warm-up.
			.filter(
				({ second, tag }) =>
					seen.windowStartNs < seen.zeroNs || second >= 0 || tag.endsWith(".warmup"),
			)
			.map(({ tag, second, all }) => {
				const startS = (seen.zeroNs + second * 1e9) / 1e9;
				const maxMs = (Math.max(...all) / 1e6).toFixed(6);
				return `Tag=${tag},${startS.toFixed(3)},1.000,${maxMs},${encodeIntoCompressedBase64(histogramOf(all))}`;
			}),
	];
}

function linesOf(one: One): object[] {
	const { plan, seen, client, more } = one;
	const all = seen.messages;
	const own = all.filter((m) => m.sender === client);
	const window = own.filter((m) => !m.warmup);
	const acks = plan.acks;
	const startNs = seen.windowStartNs;
	const endNs =
		plan.schedule.kind === "closed" ? Number.POSITIVE_INFINITY : startNs + plan.schedule.durationNs;
	const within = (times: readonly (number | null)[]) =>
		times.filter((t) => t !== null && t >= startNs && t < endNs).length;
	const sends = (of: readonly Message[]) => of.map((m) => m.sentNs).filter((t) => t !== null);
	const ackTimes = (of: readonly Message[]) => of.map((m) => m.ackedNs).filter((t) => t !== null);
	const receipts = (of: readonly Message[]) => of.flatMap((m) => receiptsAt(m, client));
	const windowReceipts = receipts(all.filter((m) => !m.warmup));
	const last = edge(Math.max, [
		startNs,
		...sends(all),
		...ackTimes(all),
		...all.flatMap((m) => m.receivedNs).filter((t) => t !== null),
	]) as number;
	return [
		{
			type: "client",
			schema: 1,
			index: client,
			t0UnixNs: String(1_767_225_600_000_000_000n + BigInt(more.clockNs?.[client] ?? 0)),
			versions: {
				k6: "v2.1.0",
				mqbench: "0.1.0",
				go: "go1.26.0",
				driver: plan.broker,
				library: "library v1",
				server: "server 1.0",
			},
			driverOptions: {},
			capabilities: { acks, order: "none" },
			pacer: { timer: "none", leadNs: 0, spinNs: 0 },
			cores: 2,
		},
		...secondLines(one),
		...tickLines(one, last),
		...completionLines(one),
		...(["warmup", "window"] as const).map((scope) => ({
			type: "counters",
			scope,
			...countersOf(
				plan,
				own.filter((m) => m.warmup === (scope === "warmup")),
			),
		})),
		{
			type: "totals",
			clientDropped: 0,
			...(more.connections === undefined ? {} : { connections: more.connections }),
			...(more.requests === undefined ? {} : { requests: more.requests }),
			foreign: 0,
			sentInWindow: within(sends(own)),
			ackedInWindow: acks ? within(ackTimes(own)) : null,
			receivedInWindow: within(receipts(all)),
			...(acks && !more.older ? { unanswered: own.filter((m) => m.unanswered).length } : {}),
			reconnects: more.reconnects ?? 0,
			throttledNs: more.throttledNs ?? null,
			firstSendNs: edge(Math.min, sends(window)),
			lastAckNs: edge(Math.max, ackTimes(window)),
			firstReceiveNs: edge(Math.min, windowReceipts),
			lastReceiveNs: edge(Math.max, windowReceipts),
			windowStartNs: startNs,
			firstClaimNs: more.firstClaimNs?.[client] ?? -1e8,
			endNs: last,
			cpuNs: 1e9,
			gcPauseNs: 0,
			gcCycles: 0,
			schedLatencyP999Ns: 1000,
			...(more.catchUp === undefined ? {} : { catchUp: more.catchUp }),
			...(more.suspendedNs === undefined ? {} : { suspendedNs: more.suspendedNs[client] }),
			errors: [],
		},
		{ type: "offenders", first: {} },
		{ type: "slowest", messages: slowestOf(one) },
		...(plan.schedule.kind === "closed" || plan.pattern === "backlog" || more.older
			? []
			: [{ type: "breakdown", buckets: bucketsOf(one) }]),
	];
}

function responsesOf({ seen, client }: One) {
	return seen.messages
		.map((m, i) => ({ m, i }))
		.filter(({ m }) => !m.warmup)
		.flatMap(({ m, i }) =>
			m.values
				.filter(([name, , , by]) => name === "response" && by === client)
				.map(([, responseNs, lagNs]) => {
					const { queuedNs } = m;
					const serviceNs = responseNs - queuedNs - lagNs;
					return { i, dueNs: m.dueNs, responseNs, queuedNs, lagNs, serviceNs };
				}),
		);
}

function slowestOf(one: One): object[] {
	const { producers, topics } = one.plan;
	return responsesOf(one)
		.sort((a, b) => b.responseNs - a.responseNs)
		.slice(0, 20)
		.map(({ i, dueNs, ...parts }) => ({
			producer: i % producers,
			sequence: Math.floor(i / producers),
			topic: (i % producers) % topics.length,
			partition: null,
			intendedNs: dueNs,
			...parts,
		}));
}

function bucketsOf(one: One): object[] {
	const buckets = new Map<number, Record<string, number>>();
	for (const { responseNs, queuedNs, lagNs, serviceNs } of responsesOf(one)) {
		const ns = Math.max(0, responseNs);
		// 16 of equal width per octave, of at least 1 ns each.
		const octave = ns === 0 ? 0 : 2 ** Math.floor(Math.log2(ns));
		const width = Math.max(1, octave / 16);
		const fromNs = Math.floor(ns / width) * width;
		const sum = buckets.get(fromNs);
		buckets.set(fromNs, {
			fromNs,
			toNs: fromNs + width - 1,
			messages: (sum?.messages ?? 0) + 1,
			queuedNs: (sum?.queuedNs ?? 0) + queuedNs,
			lagNs: (sum?.lagNs ?? 0) + lagNs,
			serviceNs: (sum?.serviceNs ?? 0) + serviceNs,
		});
	}
	return [...buckets].sort(([a], [b]) => a - b).map(([, bucket]) => bucket);
}

/** First receipts at a client, from its own view. */
function receiptsAt(m: Message, client: number): number[] {
	return [
		...m.receivedNs.filter((t, k): t is number => t !== null && m.receivedBy[k] === client),
		...(m.againBy.includes(client) ? [m.againNs] : []),
	];
}

function edge(which: (...all: number[]) => number, times: readonly number[]): number | null {
	return times.length === 0 ? null : times.reduce((a, b) => which(a, b));
}

function countersOf(plan: Plan, of: readonly Message[]) {
	const count = (is: (m: Message) => boolean) => of.filter(is).length;
	const sum = (n: (m: Message) => number) => of.reduce((all, m) => all + n(m), 0);
	const came = (m: Message) => m.receivedNs.filter((t) => t !== null).length;
	const sent = (m: Message) => m.sentNs !== null || m.failed;
	const promised = (m: Message) => sent(m) && !m.failed && (!plan.acks || m.ackedNs !== null);
	const slow = (m: Message) =>
		m.sentNs !== null && (settledNs(plan, m) ?? Infinity) > m.sentNs + plan.timeoutNs;
	// For messages that cross from client to client, only the ledgers count.
	const consumed = plan.pattern !== "publish" && !acrossClients(plan);
	const delivered = sum((m) => (promised(m) ? came(m) : 0));
	return {
		intended: of.length,
		notOffered: count((m) => !sent(m)),
		sent: count(sent),
		acked: plan.acks ? count((m) => m.ackedNs !== null && !m.failed) : null,
		failed: count((m) => m.failed),
		unknown: plan.acks ? count((m) => sent(m) && !m.failed && m.ackedNs === null) : 0,
		received: consumed ? sum(came) : null,
		delivered: consumed ? delivered : null,
		lost: consumed ? sum((m) => (promised(m) ? m.copies - came(m) : 0)) : null,
		duplicated: 0,
		reordered: null,
		failedReceived: acrossClients(plan) ? null : sum((m) => (m.failed ? came(m) : 0)),
		unackedReceived:
			plan.acks && !acrossClients(plan)
				? sum((m) => (!m.failed && m.ackedNs === null ? came(m) : 0))
				: null,
		late: 0,
		timedOut: plan.inFlight === null ? null : count(slow),
		redelivered: 0,
		corrupted: null,
		behind: 0,
	};
}

function secondLines({ plan, seen, client }: One): object[] {
	const bySecond = new Map<number, Message[]>();
	for (const whole of recorded(plan, seen)) {
		const m = { ...whole, values: whole.values.filter(([, , , by]) => by === client) };
		if (m.values.length === 0) continue;
		const second = secondOf(seen, m);
		const found = bySecond.get(second);
		if (found === undefined) bySecond.set(second, [m]);
		else found.push(m);
	}
	return [...bySecond].map(([second, messages]) => {
		const valuesOf = (metric: Metric) =>
			messages.flatMap((m) => m.values.filter(([name]) => name === metric).map(([, ns]) => ns));
		return {
			type: "second",
			second,
			metrics: Object.fromEntries(
				Metric.options.flatMap((metric) => {
					const values = valuesOf(metric);
					if (values.length === 0) return [];
					const raised = values.map((v) => Math.max(0, v));
					const sum = raised.reduce((a, b) => a + b, 0);
					const [min, max] = [Math.min(...raised), Math.max(...raised)];
					const negative = values.filter((v) => v < 0).length;
					const lowest = negative > 0 ? { lowest: Math.min(...values) } : {};
					return [
						[metric, { count: values.length, sum, min, max, clamped: 0, negative, ...lowest }],
					];
				}),
			),
			limits: plan.limits.map(({ metric, limitNs }) => {
				const pieces = { count: zeros(), over: zeros(), overWithoutLag: zeros() };
				for (const m of messages) {
					const at = Math.floor((m.dueNs - seen.zeroNs - second * 1e9) / 1e8);
					for (const [name, ns, lag] of m.values) {
						if (name !== metric) continue;
						pieces.count[at] = (pieces.count[at] ?? 0) + 1;
						if (ns > limitNs) pieces.over[at] = (pieces.over[at] ?? 0) + 1;
						if (ns - lag > limitNs)
							pieces.overWithoutLag[at] = (pieces.overWithoutLag[at] ?? 0) + 1;
					}
				}
				return pieces;
			}),
		};
	});
}

function zeros(): number[] {
	return Array.from({ length: 10 }, () => 0);
}

/** One per second until the last event. In flight: sent, and neither complete nor failed. */
function tickLines({ plan, seen, client }: One, lastNs: number): object[] {
	const own = seen.messages.filter((m) => m.sender === client);
	const all = own.filter((m) => m.sentNs !== null);
	const sent = all.map((m) => m.sentNs ?? 0).sort(ascending);
	const done = all
		.map((m) => settledNs(plan, m))
		.filter((t) => t !== null)
		.sort(ascending);
	const acked = all
		.map((m) => m.ackedNs)
		.filter((t) => t !== null)
		.sort(ascending);
	const received = seen.messages.flatMap((m) => receiptsAt(m, client)).sort(ascending);
	const copiesSent = all
		.filter((m) => !m.failed && !m.unanswered)
		.flatMap((m) => Array.from({ length: m.copies }, () => m.sentNs ?? 0))
		.sort(ascending);
	const between = (times: readonly number[], s: number) =>
		upTo(times, s * 1e9) - upTo(times, (s - 1) * 1e9);
	return Array.from({ length: Math.ceil(lastNs / 1e9) }, (_, i) => {
		const at = i + 1;
		const inFlight = (ns: number) => upTo(sent, ns) - upTo(done, ns);
		const samples = Array.from({ length: 10 }, (_, j) => i * 1e9 + (j + 1) * 1e8);
		return {
			type: "tick",
			at,
			sent: between(sent, at),
			acked: plan.acks ? between(acked, at) : null,
			received: between(received, at),
			inFlight: inFlight(at * 1e9),
			backlog: samples.map(inFlight),
			...(acrossClients(plan)
				? { outstanding: samples.map((ns) => upTo(copiesSent, ns) - upTo(received, ns)) }
				: {}),
			cpuNs: 1e8,
			gcPauseNs: 0,
			gcCycles: 0,
		};
	});
}

/** How many of ascending times are below `ns`. */
function upTo(times: readonly number[], ns: number): number {
	let [from, to] = [0, times.length];
	while (from < to) {
		const middle = (from + to) >> 1;
		if ((times[middle] as number) < ns) from = middle + 1;
		else to = middle;
	}
	return from;
}

/** Acknowledgements, else first receipts, by 10 ms. */
function completionLines({ plan, seen, client }: One): object[] {
	const bySecond = new Map<number, number[]>();
	for (const m of seen.messages) {
		const acked = m.sender === client && m.ackedNs !== null ? [m.ackedNs] : [];
		for (const ns of plan.acks ? acked : receiptsAt(m, client)) {
			const second = Math.floor(ns / 1e9);
			const counts = bySecond.get(second) ?? Array.from({ length: 100 }, () => 0);
			const bin = Math.floor((ns - second * 1e9) / 1e7);
			counts[bin] = (counts[bin] ?? 0) + 1;
			bySecond.set(second, counts);
		}
	}
	return [...bySecond].map(([second, counts]) => ({ type: "completions", second, counts }));
}

function settledNs(plan: Plan, m: Message): number | null {
	if (m.failed || m.unanswered) return m.sentNs;
	// Leaves flight with its acknowledgement, or when the send call returns: its sender gets no further news.
	if (acrossClients(plan)) return plan.acks ? m.ackedNs : m.sentNs;
	if (plan.pattern === "publish") return m.ackedNs;
	const came = m.receivedNs.filter((t) => t !== null);
	return came.length === m.copies ? Math.max(...came) : null;
}

function ascending(a: number, b: number): number {
	return a - b;
}

function sha256(text: string): string {
	return createHash("sha256").update(text).digest("hex");
}
