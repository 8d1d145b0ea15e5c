import { noBroker, type Traits } from "../../brokers/index.ts";
import { smallestOf } from "../../extremes.ts";
import { type Size, sizeText } from "../../model/field.ts";
import { CATCH_UP, CHECKSUM_BYTES, ENVELOPE_BYTES, MOST_BYTES } from "../../model/load.ts";
import { acrossClients } from "../../model/plan.ts";
import type { WorkloadField } from "../../model/workload.ts";
import { tell } from "../../text/tell.ts";
import { formatCount, ratePerSecond } from "../../units.ts";
import { checkCases, type ResolvedCases } from "../cases.ts";
import { busy } from "../consumers.ts";
import type { Context, GivenRig, Wrong } from "../problem.ts";
import { rigBroker } from "../rig.ts";
import type { Case, System } from "../scenario.ts";
import { meanPerSecond } from "../schedule.ts";
import type { PlacedSystem } from "../systems.ts";

/** Also checks clients: connection c belongs to client c mod clients, and a returning message must reach its sender's client. */
export function checkSystems(
	systems: readonly Able[],
	cases: ResolvedCases,
	{ clients, rig, problems }: Pick<Context, "rig" | "problems"> & { readonly clients: number },
): void {
	// If one system has partitions, the others do without.
	const partitioned = systems.some(({ traits }) => traits.partitions);
	for (const system of systems)
		checkCases(cases, problems, (one, wrong) => {
			checkConsumers(one, system, wrong);
			checkMessages(one, system, rig, wrong);
			checkTopics(one, system, partitioned, wrong);
		});
	const share: Check = (one, wrong) => checkClients(one, systems, clients, wrong);
	if (clients > 1) checkCases(cases, problems, share, ["clients"]);
	for (const system of systems) {
		const use: Check = (one, wrong) => checkExisting(one, system, wrong);
		checkCases(cases, problems, use, [...system.path, "topics"]);
	}
}

/** From the system, otherwise the workload, otherwise one for each consumer of the topic. */
export function partitionsOf(
	one: Pick<Case, "partitions" | "consumers" | "topics" | "order">,
	{ traits, options }: Pick<System, "traits" | "options">,
): number {
	if (!traits.partitions) return 1;
	const written = options.partitions ?? one.partitions;
	if (written !== null) return written;
	// A producer's messages may overtake each other on different partitions.
	return traits.groupsByPartition && one.order !== "per-producer"
		? Math.max(1, Math.ceil(one.consumers / one.topics))
		: 1;
}

/** Null without a limit. Topic names may count towards it. `limitBytes` is only set for sizes deliberately above it. */
export function sizeFor(
	size: Size,
	{ maxMessageBytes, maxMessageBytesTo }: Traits,
	topics: readonly string[] = [],
): { bytes: number; limitBytes: number | null } | null {
	if (typeof size === "number") return { bytes: size, limitBytes: null };
	if ("runs" in size) return { bytes: size.classes.at(-1) ?? 0, limitBytes: null };
	if (maxMessageBytes === null) return null;
	const limitBytes =
		maxMessageBytesTo && topics.length > 0
			? smallestOf(topics.map(maxMessageBytesTo))
			: maxMessageBytes;
	const { aboveLimit } = size;
	return { bytes: limitBytes + aboveLimit, limitBytes: aboveLimit > 0 ? limitBytes : null };
}

// --- internal ---

type Check = Parameters<typeof checkCases>[2];
type Report = Wrong<WorkloadField>;

type Able = Pick<PlacedSystem, "key" | "broker" | "traits" | "options" | "existingTopics" | "path">;

function checkExisting(
	{ name, pattern, topics, wildcard, bystanders }: Case,
	{ key: system, existingTopics }: Able,
	wrong: Report,
): void {
	if (!existingTopics) return;
	const named = existingTopics.length;
	if (pattern === "request-reply") wrong("pattern", "yours-request-reply", { system });
	else if (pattern === "connect") wrong("pattern", "yours-connect", { system });
	else if (topics !== named)
		wrong("topics", "yours-other-number", { case: name, topics, system, named });
	if (wildcard) wrong("wildcard", "yours-more-topics", { field: "wildcard", system });
	if (bystanders > 0) wrong("bystanders", "yours-more-topics", { field: "bystanders", system });
}

function checkClients(one: Case, systems: readonly Able[], clients: number, wrong: Report): void {
	const { schedule, pattern, connections, topics, order } = one;
	if (schedule.kind === "closed") wrong("messages", "clients-of-closed-load", { clients });
	if (connections < clients)
		wrong("connections", "connections-below-clients", { clients, connections });
	else if (isApart(one, clients)) wrong("topics", "topics-of-clients", { topics, connections });
	if (order !== "none" && (pattern === "work-queue" || pattern === "backlog"))
		wrong("order", "order-over-clients", { pattern, clients, remedy: "write order: none" });
	// A system without a process lives in each client: messages never reach another client.
	const alone = systems.find(({ broker }) => broker === noBroker);
	if (alone && acrossClients({ pattern, client: { index: 0, count: clients } }))
		wrong("pattern", "no-process-for-clients", { system: alone.key, clients });
	// Clients would have to agree on the window's first second, and each sees only its own latency.
	if (schedule.steady !== null) wrong("warmup", "steady-clients");
}

function checkMessages(
	{ message, pattern, keys, backlog, topics, schedule }: Case,
	{ key: system, traits, existingTopics }: Able,
	rig: GivenRig | null,
	wrong: Report,
): void {
	const { title, maxMessageBytes: limitBytes, keepsOnly } = traits;
	const size = sizeFor(message.size, traits);
	const leastBytes = ENVELOPE_BYTES + (message.checksum ? CHECKSUM_BYTES : 0);
	if (size === null) wrong("message", "no-limit-of-system", { system, title });
	else if (typeof message.size === "object" && "aboveLimit" in message.size) {
		const range = { system, limitBytes, size: sizeText(message.size), leastBytes };
		if (size.bytes < leastBytes || size.bytes > MOST_BYTES)
			wrong("message", "limit-out-of-range", { ...range, mostBytes: MOST_BYTES });
	} else if (size.bytes > (limitBytes ?? Infinity))
		wrong("message", "too-large-for-system", { system, limitBytes, sizeBytes: size.bytes });
	const setUpBytes = rigBroker(rig?.rig, system)?.messageBytes ?? Infinity;
	const messageBytes = size?.limitBytes ?? size?.bytes ?? 0;
	if (rig !== null && messageBytes > setUpBytes)
		wrong("message", "too-large-for-rig", { messageBytes, system, rig: rig.path, setUpBytes });
	const why = traits.cannot[pattern];
	const remedy = traits.instead?.[pattern] ?? tell("drop-system", { system });
	if (why !== undefined)
		wrong("pattern", "pattern-beyond-system", { system, title, pattern, why, remedy });
	const reads = pattern === CATCH_UP;
	if (reads && !traits.replays) wrong("pattern", "catch-up-of-nothing", { system, title });
	if (reads && existingTopics) wrong("pattern", "catch-up-of-yours", { system });
	if (keys !== null && !traits.keys) wrong("keys", "no-keys", { who: `${system} (${title})` });
	// Messages that a topic drops before consumers resume would count as lost. The user's own topics are not trimmed.
	const { warmupNs, durationNs } = schedule;
	const all = reads ? ((meanPerSecond(schedule) ?? 0) * (warmupNs + durationNs)) / 1e9 : 0;
	const piled = backlog?.messages ?? all;
	if (piled > 0 && keepsOnly !== null && !existingTopics) {
		const { messages, bytes, option, inBytes } = keepsOnly;
		const each = size?.bytes ?? 1;
		const kept = Math.max(messages, Math.floor(bytes / each));
		const waiting = Math.ceil(piled / topics);
		// More messages arrive while consumers catch up.
		const value = 2 * waiting * (inBytes ? each : 1);
		const found = { system, kept, waiting: formatCount(waiting), option, value };
		if (waiting > kept) wrong(reads ? "pattern" : "backlog", "backlog-trimmed", found);
	}
}

function checkTopics(one: Case, system: Able, partitioned: boolean, wrong: Report): void {
	const { partitions, wildcard, order, consumers, topics } = one;
	const { key, traits, options } = system;
	const { title } = traits;
	const who = `${key} (${title})`;
	if (partitions !== null && partitions > 1 && !partitioned)
		wrong("partitions", "no-partitions", { who });
	if (partitions !== null && options.partitions !== undefined)
		wrong("partitions", "partitions-twice", { system: key });
	if (wildcard && !traits.wildcards) wrong("wildcard", "no-wildcards", { who });
	if (order === "none") return;
	if (!traits.ordered) wrong("order", "no-order", { system: key, title });
	if (isShared(one) && !traits.groupOrdered)
		wrong("order", "no-order-when-shared", { system: key, title, consumers, topics });
	const several = partitionsOf(one, system);
	if (order === "per-producer" && several > 1)
		wrong("order", "order-over-partitions", { partitions: several });
}

function checkConsumers(one: Case, system: Able, wrong: Report): void {
	const { pattern, consumers, topics, schedule, backlog, work, find } = one;
	const { key, traits } = system;
	const { title, prefetch, redeliverAfterNs, groupsByPartition } = traits;
	const who = `${key} (${title})`;
	// Responders that share a topic need groups, as work queues do, unless the system shares requests.
	const why = traits.cannotShare ?? traits.cannot["work-queue"];
	const queues = traits.cannotShare && (pattern === "work-queue" || pattern === "backlog");
	const remedy = traits.instead?.["work-queue"] ?? `write consumers: ${topics}`;
	if ((pattern === "request-reply" || queues) && isShared(one) && why && !traits.respondersShare)
		wrong("consumers", "consumers-cannot-share", { consumers, topics, who, why, remedy });
	if (redeliverAfterNs !== null) {
		// If our own pause made the broker redeliver, the copies would count as the broker's duplicates.
		const pauseNs = backlog === null ? 0 : backlog.resumeNs - backlog.pauseNs;
		if (schedule.kind === "constant" && pauseNs >= redeliverAfterNs)
			wrong("backlog", "redelivered-in-pause", { pauseNs, system: key, redeliverAfterNs });
		// The last message of a full prefetch waits for the work on all others.
		const heldNs = (work?.meanNs ?? 0) * Math.max(1, prefetch ?? 0);
		if (work !== null && prefetch !== null && heldNs >= redeliverAfterNs)
			wrong("work", "prefetch-outlasts-redelivery", {
				system: key,
				prefetch,
				heldNs,
				redeliverAfterNs,
				most: Math.max(1, Math.floor((redeliverAfterNs - 1) / work.meanNs)),
			});
	}
	// The queue would grow on any broker, so figures would show the work. Stages may exceed it briefly; a search may start anywhere.
	if (find !== null || schedule.rate === null || schedule.kind === "stages") return;
	const partitions = partitionsOf(one, system);
	const load = busy({ ...one, partitions, groupsByPartition }, ratePerSecond(schedule.rate));
	if (load?.beyond) {
		const { code, text } = load.said;
		wrong("work", { code, text: `${key}: ${text}; ${load.remedy}` });
	}
}

/** Member k mod M takes topic k mod T, so topics are shared if there are more members than topics. */
function isShared({ consumers, topics }: Case): boolean {
	return consumers > topics;
}

/** Response time would mix two clocks if messages left one client and returned to another. */
function isApart({ pattern, topics, producers, connections: c }: Case, clients: number): boolean {
	if (pattern !== "round-trip" && pattern !== "request-reply") return false;
	return Array.from({ length: producers }, (_, p) => p).some(
		(p) => (p % c) % clients !== ((p % topics) % c) % clients,
	);
}
