import { randomBytes } from "node:crypto";
import { brokerOf, hasProcess, noBroker, type Traits } from "../brokers/index.ts";
import { failure } from "../errors.ts";
import { largestOf } from "../extremes.ts";
import { cpusOf } from "../model/field.ts";
import { glob } from "../model/glob.ts";
import { CATCH_UP } from "../model/load.ts";
import {
	type BaselineSla,
	inOrder,
	isOfAnswer,
	Plan,
	type Sla,
	senderOf,
	subjectOf,
	t0AfterNs,
} from "../model/plan.ts";
import { needs, TALLIES } from "../model/tallies.ts";
import { targets } from "../model/targets.ts";
import { clientCount } from "../scenario/clients.ts";
import { consumersOf } from "../scenario/faults.ts";
import { onHosts } from "../scenario/rig.ts";
import { partitionsOf, sizeFor } from "../scenario/rules/system.ts";
import type { Case, Fault, Scenario, SlaLine, System } from "../scenario/scenario.ts";
import { counted, intervalSeconds, segmentsOf } from "./derive.ts";
import { promisedGates } from "./promises.ts";
import { copies } from "./samples.ts";

interface ExpandOptions {
	/** Part of every topic: no run meets another one's messages. */
	readonly runId?: string | undefined;
	/** `--only`: a glob over "system/case". */
	readonly only?: string | undefined;
}

/** Repeats outermost, systems innermost and in turns (A B, B A): a warming machine and a steady drift affect all alike. */
export function expand(given: Scenario, { runId = "plan", only }: ExpandOptions): Plan[] {
	// Counted once per case because poisson arrivals take time to count.
	const cases = given.cases.map(
		(one): CountedCase => ({ ...withCounts(one), background: one.background.map(withCounts) }),
	);
	const scenario = { ...given, cases };
	const pairs = pairsOf(cases, scenario.systems);
	const chosen = only === undefined ? pairs : choose(pairs, only);
	const turned = pairsOf(cases, scenario.systems.toReversed()).filter(({ system, one }) =>
		chosen.some((pair) => pair.system === system && pair.one === one),
	);
	const plans: Plan[] = [];
	for (let repeat = 1; repeat <= scenario.repeat; repeat++)
		for (const pair of repeat % 2 === 1 ? chosen : turned)
			for (const load of [pair.one, ...pair.one.background])
				plans.push(plan(scenario, pair, load, { runId, index: plans.length + 1, repeat }));
	return plans;
}

export function limits(sla: readonly Sla[]): Plan["limits"] {
	const distinct = new Map<string, Plan["limits"][number]>();
	for (const line of sla) {
		const latency = line.kind === "tally" ? line.until : line;
		if (latency === undefined) continue;
		const { metric, limitNs } = latency;
		distinct.set(`${metric} ${limitNs}`, { metric, limitNs });
	}
	return [...distinct.values()];
}

/** Names the runs of a command, and sorts by time: "quickstart-20261120-101746-3f2a". */
export function newRunId(scenario: string, nowMs: number): string {
	const stamp = new Date(nowMs)
		.toISOString()
		.replaceAll(/[-:]/g, "")
		.replace("T", "-")
		.slice(0, 15);
	return `${scenario}-${stamp}-${randomBytes(2).toString("hex")}`;
}

// --- internal ---

/** Enough to hand slots out in time, few enough to cost nothing. */
const SLOTS_PER_SECOND = 100;
const HEARTBEAT_VUS = 4;
/** The heartbeat outlasts the schedule by this: late ticks make up for lost ones. */
export const HEARTBEAT_MARGIN_NS = 2e9;
/** T0 of several clients is this far ahead; k6's heartbeat begins at once. */
export const START_LEAD_NS = 3e9;
/** k6 waits this much longer than its last iteration waits for messages: leaving a broker that does not answer may take 10 s, and more on a busy machine. */
const STOP_MARGIN_NS = 30e9;

type CountedLoad = Case & { readonly schedule: Plan["schedule"] };
type CountedCase = CountedLoad & { readonly background: readonly CountedLoad[] };

function withCounts(one: Case): CountedLoad {
	return { ...one, schedule: counted(one.schedule) };
}

interface Pair {
	readonly system: System;
	readonly one: CountedCase;
}

function pairsOf(cases: readonly CountedCase[], systems: readonly System[]): Pair[] {
	return cases.flatMap((one) => systems.map((system) => ({ system, one })));
}

function choose(pairs: readonly Pair[], only: string): Pair[] {
	const pattern = glob(only);
	const chosen = pairs.filter(({ system, one }) => pattern.test(pathOf(system, one)));
	if (chosen.length > 0) return chosen;
	const known = pairs.map(({ system, one }) => `  ${pathOf(system, one)}`);
	throw failure("usage", {
		message: `--only '${only}' matches no run. Names are system/case, * stands for any text; this scenario has\n${known.join("\n")}`,
	});
}

function pathOf(system: System, one: Case): string {
	return `${system.key}/${one.name}`;
}

/** Responses go to a consumer that does not share. */
function isAlone(pattern: Case["pattern"]): boolean {
	return !["work-queue", "publish", "backlog"].includes(pattern);
}

function acknowledgeOf({ acknowledge }: Traits, pattern: Case["pattern"]) {
	if (pattern === "publish") return "automatic";
	return acknowledge[isAlone(pattern) && pattern !== "request-reply" ? "alone" : "group"];
}

type Run = Pick<Plan, "runId" | "index" | "repeat">;

function plan(scenario: Scenario, pair: Pair, one: CountedLoad, run: Run): Plan {
	const { system, one: main } = pair;
	const { runId, index } = run;
	const broker = brokerOf(system);
	const { name, find, load, startNs, background: _, ...work } = one;
	const loads = [main, ...main.background];
	const first = load === null ? index : index - main.background.indexOf(one) - 1;
	const beside = load === null ? null : { index: first, load, startNs };
	const made = { index, pattern: one.pattern, beside };
	// A catch-up has the main load's messages.
	const sender = senderOf(made);
	const partitions = partitionsOf(sender === index ? one : main, system);
	const { checksum, size, ...message } = one.message;
	const { durability = null, replicas = null } = system.options;
	const { traits } = system;
	const alone = isAlone(one.pattern) ? traits.deliveryAlone : undefined;
	const delivery = one.delivery ?? alone ?? traits.delivery;
	const { schedule } = one;
	// Consumers that come and go are the main load's.
	const meets = ({ of }: Fault) =>
		of === "brokers" ? hasProcess(system.options) : system.broker !== noBroker && one === main;
	const unknown = system.existingTopics !== null && Object.keys(traits.levels).length > 0;
	const faults = scenario.faults
		.filter(meets)
		.map(({ atNs, ...fault }) => ({
			...fault,
			count: fault.of === "brokers" ? null : consumersOf(fault, one.consumers),
			atNs: main.schedule.warmupNs + atNs - t0AfterNs(made),
		}))
		.filter(({ atNs }) => atNs >= 0);
	const linesOf = <Line extends Sla | BaselineSla>(lines: readonly SlaLine<Line>[]) =>
		lines
			.filter((line) => applies(line, system, main, load))
			.map(({ expect }) => expect)
			.filter((line) => faults.length > 0 || !isOfFaults(line));
	const written = distinct(withUntil(linesOf(scenario.sla)));
	const baselineSystem = scenario.baseline?.system ?? null;
	// The baseline has the others' lines because its figures are needed; it is not judged.
	const compared = scenario.baselineSla.map((line) =>
		system.key === baselineSystem ? { ...line, system: null } : line,
	);
	const sla = [
		...written.map((line) =>
			line.kind === "tally" && line.all
				? { ...line, limit: schedule.messages * (TALLIES[line.tally].copies ? copies(one) : 1) }
				: line,
		),
		...promisedGates({ ...one, delivery, checksum }, written),
	];
	// No load leaves before all are done.
	const endNs = largestOf(
		loads.map(({ pattern, startNs, schedule: { warmupNs, durationNs } }) => {
			const latest = pattern === CATCH_UP ? 0 : startNs;
			return latest + warmupNs + durationNs;
		}),
	);
	const clients = sender === index ? clientCount(scenario.clients) : 1;
	const client = { index: 0, count: clients };
	const search = find === null ? null : { role: "start" as const, of: name };
	const topics =
		system.existingTopics?.slice(0, one.topics) ??
		Array.from({ length: one.topics }, (_, t) => `mqbench.${runId}.${sender}.${t}`);
	const sized = sizeFor(size, traits, topics);
	if (sized === null) throw new Error("a scenario without a limit is refused");
	// Depends only on the scenario: every system gets the same bytes and keys, today and in a year.
	const seed = fnv1a(scenario.name);
	return inOrder<Plan>(Plan, {
		...work,
		schema: 1,
		scenario: scenario.name,
		...run,
		system: system.key,
		case: name,
		repeats: scenario.repeat,
		runNumber: fnv1a(`${runId}.${sender}`),
		broker: system.broker,
		durability: unknown ? "not known, the topics are yours" : system.durability,
		durabilityLevel: durability,
		replicas,
		// A login is answered.
		acks: traits.acks || one.pattern === "connect",
		requestUsd: traits.requestUsd ?? null,
		server: hasProcess(system.options),
		urlEnv: "MQBENCH_URL",
		driverOptions: { ...broker.driverOptions(system.options) } as Plan["driverOptions"],
		target: scenario.target,
		schedule,
		search,
		loads: loads.length,
		beside,
		ledger: load === null && main.background.some(({ pattern }) => pattern === CATCH_UP),
		topics,
		replyTopics: one.pattern === "request-reply" ? topics.map((topic) => `${topic}.reply`) : [],
		keys: one.keys === null ? null : { ...one.keys, seed },
		partitions,
		groupsByPartition: traits.groupsByPartition,
		create: system.existingTopics === null,
		faults,
		pin: { generator: scenario.pin.generator, brokers: brokerCpus(scenario, system) },
		pacing: { mode: scenario.pacing, apart: areApart(scenario, system) },
		message: {
			...sized,
			sizes: typeof size === "object" && "runs" in size ? size : null,
			...message,
			seed,
			checksum,
		},
		delivery,
		acknowledge: acknowledgeOf(traits, one.pattern),
		intervalSeconds: intervalSeconds({ ...work, schedule, faults }),
		segments: segmentsOf({ ...work, schedule, faults, search, client, loads: loads.length }),
		limits: limits(sla),
		heartbeat: {
			slotsPerSecond: clients * SLOTS_PER_SECOND,
			vus: clients * HEARTBEAT_VUS,
			durationNs: wholeMs(
				endNs + HEARTBEAT_MARGIN_NS + (clients > 1 || loads.length > 1 ? START_LEAD_NS : 0),
			),
			gracefulStopNs: wholeMs(largestOf(loads.map(({ drainNs }) => drainNs)) + STOP_MARGIN_NS),
		},
		client,
		sla,
		baselineSla: distinct(linesOf(compared)),
		baselineSystem,
		confirms: false,
		strict: scenario.strict,
		quick: scenario.quick,
	});
}

/** Runs without faults skip these lines. */
function isOfFaults(line: Sla | BaselineSla): boolean {
	const sla = line.kind === "baseline" ? subjectOf(line) : line;
	return sla.kind === "tally" && needs(sla.tally, "faults");
}

/** `recovered` without a latency takes the first line that has one. */
function withUntil(lines: readonly Sla[]): Sla[] {
	const until = lines.find(isOfAnswer);
	return lines.map((line) =>
		line.kind === "tally" && line.tally === "recovered" && until ? { until, ...line } : line,
	);
}

/** No broker uses the generator's cores. That is unknown for a broker started elsewhere, unless one of the two has its own host. */
function areApart(scenario: Scenario, system: System): boolean {
	const { clients, pin, target } = scenario;
	const brokers = brokerCpus(scenario, system);
	if (system.broker === noBroker) return true;
	if (clients.kind === "rented" || targets[target].place === "host") return true;
	return (
		pin.generator !== null &&
		brokers !== null &&
		!cpusOf(pin.generator).some((cpu) => cpusOf(brokers).includes(cpu))
	);
}

/** Null for a broker that runs already, which is not ours to pin. */
function brokerCpus({ target, rig, pin }: Scenario, system: System): string | null {
	const ours = rig === null ? targets[target].place !== null : onHosts(rig, system.key);
	if (!ours) return null;
	return system.options.pin ?? pin.brokers;
}

type Place = Omit<SlaLine, "expect">;
function applies(line: Place, { key }: System, { name }: Case, load: string | null): boolean {
	return (line.system ?? key) === key && (line.case ?? name) === name && line.load === load;
}

/** A line for all systems and the same one for this system are one SLA line. The first wording stays; any `abort` holds. */
function distinct<Line extends Sla | BaselineSla>(lines: readonly Line[]): Line[] {
	const byMeaning = new Map<string, Line>();
	for (const line of lines) {
		const key = JSON.stringify({ ...line, text: "", abort: false });
		const aborts = "abort" in line && line.abort;
		const before = byMeaning.get(key) ?? line;
		byMeaning.set(key, aborts ? { ...before, abort: true } : before);
	}
	return [...byMeaning.values()];
}

/** k6 reads durations to the ms. */
function wholeMs(ns: number): number {
	return Math.ceil(ns / 1e6) * 1e6;
}

function fnv1a(text: string): number {
	let hash = 0x811c9dc5;
	for (const byte of new TextEncoder().encode(text))
		hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
	return hash;
}
