import path from "node:path";
import { describe, expect, test } from "vitest";
import { findOnPath } from "../../../infra/local/program.ts";
import type { MainPattern } from "../../model/load.ts";
import { measured, scenario, standing, temporaryFolder } from "./mqbench.ts";

const ALL = ["round-trip", "request-reply", "fan-out", "work-queue", "publish", "backlog"] as const;

/**
 * Every driver with every pattern that it can, on a broker that takes them one after the other: most take longer to start than to be
 * measured. One system stays in `npm test`; acceptance has all.
 */
type Row = readonly [
	system: string,
	programs: readonly string[],
	patterns: readonly (keyof typeof CASES)[],
];
const SHORT: Row = ["broker: nats, mode: jetstream, durability: os", [], ALL];
const LONG: readonly Row[] = [
	["broker: nats", [], ["round-trip", "request-reply", "fan-out", "work-queue", "connect"]],
	[
		"broker: redis, mode: pubsub",
		["redis-server"],
		["round-trip", "request-reply", "fan-out", "connect"],
	],
	["broker: redis, mode: streams, durability: fsync", ["redis-server"], ALL],
	[
		"broker: redis, mode: lists",
		["redis-server"],
		["round-trip", "request-reply", "work-queue", "publish", "backlog"],
	],
	["broker: nsq", [], ["work-queue"]],
	["broker: mqtt", [], ["fan-out", "connect"]],
	["broker: nats-streaming", [], ["backlog"]],
	[
		"broker: kafka, acks: 1",
		["java", "mvn"],
		["round-trip", "request-reply", "fan-out", "backlog"],
	],
	["broker: kafka, acks: all, durability: fsync", ["java", "mvn"], ["work-queue", "publish"]],
	["broker: rabbitmq, durability: memory", ["rabbitmq-server"], [...ALL, "connect"]],
	["broker: rabbitmq, durability: fsync", ["rabbitmq-server"], ["work-queue", "publish"]],
	[
		"broker: rabbitmq, queue: stream, subEntrySize: 10",
		["rabbitmq-server"],
		["round-trip", "request-reply", "fan-out", "publish"],
	],
	...["zeromq", "nanomsg"].flatMap((broker): Row[] => [
		[`broker: ${broker}`, [], ["round-trip", "work-queue"]],
		[`broker: ${broker}, mode: pub-sub`, [], ["fan-out"]],
		[`broker: ${broker}, mode: req-rep`, [], ["request-reply"]],
		[`broker: ${broker}, forwarder: true`, [], ["round-trip", "request-reply", "work-queue"]],
	]),
];

/** What each pattern adds to 200/s of a second, and how many copies of each message arrive; null: there is no consumer. */
const CASES = {
	"round-trip": ["", 1],
	// Each responder has its own topic, because Redis pub/sub has no groups.
	"request-reply": ["consumers: 2, topics: 2, producers: 2, ", 1],
	"fan-out": ["subscriptions: 3, ", 3],
	"work-queue": ["consumers: 2, ", 1],
	publish: ["", null],
	backlog: ["backlog: 100, duration: 3s, ", 1],
	connect: ["hold: 50, ", 1],
} as const;
const RATE = 200;

describe.each([SHORT, ...LONG])("a short run on { %s }", (system, programs, patterns) => {
	const tags = system === SHORT[0] ? [] : ["long"];
	const missing = programs.filter((name) => findOnPath(name, process.env) === null);
	// Never silently, and never where it counts.
	const skipped = missing.length > 0 && process.env.CI !== "true";
	test.skipIf(skipped)(
		`of ${patterns.join(", ")}${skipped ? ` (missing: ${missing.join(", ")})` : ""}`,
		{ tags },
		async () => {
			expect(missing, "CI needs them").toEqual([]);
			const { runs } = (await measure(system, patterns)).result;
			expect(runs.map(({ load }) => load.pattern)).toEqual(patterns);
			for (const one of runs) {
				const copies = CASES[one.load.pattern as MainPattern][1];
				const intended = (RATE * one.load.durationNs) / 1e9;
				expect(one, one.case).toMatchObject({
					state: "complete",
					intended,
					notOffered: 0,
					sent: intended,
					acked: one.load.acks ? intended : null,
					failed: 0,
					unknown: 0,
					received: copies && intended * copies,
					lost: copies && 0,
					duplicated: copies && 0,
					// Libraries that drop silently do not report it.
					clientDropped: BROKERLESS.test(system) ? null : 0,
					errors: [],
				});
				// Without warm-up all are in the window.
				const held = { opened: intended, held: 50, closed: intended - 50, gone: 0 };
				expect(one.connections, one.case).toEqual(
					one.load.pattern === "connect" ? held : undefined,
				);
				// response ends at a receipt, of publish at the acknowledgement; a backlog has none.
				expect(one.metrics.response?.count ?? null, one.case).toBe(
					one.load.pattern === "backlog" ? null : intended * (copies ?? 1),
				);
			}
		},
	);
});

// --- internal ---

/** There is nothing to stand up. */
const BROKERLESS = /zeromq|nanomsg/;

async function measure(system: string, patterns: readonly (keyof typeof CASES)[]) {
	const cases = patterns.map(
		(pattern) => `{ name: ${pattern}, pattern: ${pattern}, ${CASES[pattern][0]}}`,
	);
	const top = {
		system: `{ ${system} }`,
		cases: `[${cases.join(", ")}]`,
		sla: "[failed == 0]",
	};
	const load = { pattern: "", rate: `${RATE}/s` };
	const folder = temporaryFolder();
	const rig = system.includes("forwarder") || !BROKERLESS.test(system);
	if (rig) await standing(folder, scenario(folder, load, top));
	const args = rig ? ["--rig", path.join(folder, "rig.json")] : [];
	// Whether a busy machine's lag decides is no matter here.
	return measured(load, top, { folder, args, exit: [0, 4] });
}
