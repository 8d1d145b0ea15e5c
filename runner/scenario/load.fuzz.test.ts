import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { MqbenchError } from "../errors.ts";
import { loadScenario } from "./load.ts";

const start = readFileSync(
	new URL("../script/golden/cases-and-limits/scenario.yaml", import.meta.url),
	"utf8",
);

/** `npm run acceptance` makes many more. */
const rounds = Number(process.env.MQBENCH_FUZZ_ROUNDS ?? 200);
const timeout = 60_000 + 60 * rounds;

/** Deterministic numbers from 0 to below `below`. */
function dice(seed: number) {
	let state = seed;
	return (below: number) => {
		state = (state * 48_271) % 0x7fffffff;
		return state % below;
	};
}

/** Is it refused, with a line and a sentence? */
function isRefused(text: string): boolean {
	try {
		loadScenario("s.yaml", text);
		return false;
	} catch (error) {
		if (!(error instanceof MqbenchError)) throw new Error(`${error}\n${text}`, { cause: error });
		expect(error.message, text).toMatch(/^s\.yaml:\d+:\d+ \S/);
		expect(error.message, text).not.toMatch(/undefined|\[object|Invalid input|NaN|Infinity/);
		return true;
	}
}

const pieces = [
	..."null ~ [] {} -1 1e999 .nan .inf true '' \"\" &a *a !!set --- ... # | > { } [ ]".split(" "),
	..."__proto__ constructor system systems /s KiB nats://a:b@c".split(" "),
	...["<<: *a", "&a [*a]", "&a {<<: *a}", "&a ", "*a ", "p0.0000009 < 5ms", "p99 < "],
	...["\t", "\n", "  ", ": ", "- ", "? ", "\u0000", "\u2028", "\ud800", `$${"{X}"}`],
	...["9".repeat(30), "x".repeat(300)],
];

test(
	"whatever happens to a scenario, it is taken or refused with a line and a sentence, never with a crash",
	() => {
		const roll = dice(20_260_102);
		let refused = 0;
		for (let round = 0; round < rounds; round++) {
			let text = start;
			for (let changes = 1 + roll(3); changes > 0; changes--) {
				const at = roll(text.length);
				const piece = pieces[roll(pieces.length)] ?? "";
				text = text.slice(0, at) + piece + text.slice(at + roll(12));
			}
			if (isRefused(text)) refused++;
		}
		expect(refused).toBeGreaterThan(rounds / 6);
	},
	timeout,
);

/** Uses every field; one or two parts go wrong at a time. */
const whole = parse(`
name: whole
target: local
systems:
  a: { broker: nats, mode: jetstream, durability: os, config: { x: 1 } }
  b: { broker: kafka, acks: all, nodes: 3, replicas: 3 }
  c: noop
workload:
  { pattern: work-queue, rate: 100/s, arrivals: poisson, seed: 3, message: 256B, duration: 10s,
    warmup: 0, drain: 30s, timeout: 1s, inFlight: 10, connections: 2, consumerConnections: 2,
    producers: 4, consumers: 3, topics: 2, partitions: 1, payload: { random: 0.3 }, keys: none,
    work: { mean: 2ms, distribution: exponential }, delivery: at-least-once, order: none }
cases:
  - { name: one, sla: [p99 < 5ms, { expect: lost == 0, system: a }] }
  - { steps: [{ rate: 1/s, duration: 10s }] }
  - { stages: [{ target: 9/s, duration: 10s }] }
  - { messages: 1000, warmup: 10 messages }
  - { pattern: backlog, rate: 100/s, arrivals: constant, backlog: 1MB }
matrix: { message: [1KiB, 2KiB], keys: [zipf, { distribution: random }] }
repeat: 2
pin: { generator: "0", brokers: 1-2 }
sla: [service p99 < 5ms, { expect: p99 < 5ms, case: one, abort: true }]
strict: false
`);

const values = [
	...[null, "", 0, -1, 1.5, 1e21, true, [], {}, [[]], [null], { broker: null }],
	...["x", "5s", "5", "1KiB", "100/s", "p99 < 5ms", ["p99 < 5ms"], ["p0.0000009 < 5ms"]],
	...["max-rate", "fan-out", "none", "existing", `$${"{X}"}`, "__proto__"],
];

test(
	"whatever stands in a field, it is refused with a line and a sentence, never with a crash",
	() => {
		const roll = dice(20_261_120);
		for (let round = 0; round < rounds; round++) {
			const changed = structuredClone(whole);
			for (let changes = 1 + roll(2); changes > 0; changes--) change(changed, roll);
			isRefused(JSON.stringify(changed));
		}
	},
	timeout,
);

function change(node: object, roll: (below: number) => number): void {
	const fields = node as Record<string, unknown>;
	const keys = Object.keys(fields);
	const key = keys[roll(Math.max(1, keys.length))] ?? "added";
	const inner = fields[key];
	if (typeof inner === "object" && inner !== null && roll(4) > 0) {
		change(inner, roll);
		return;
	}
	const action = roll(6);
	if (action === 0) delete fields[key];
	else fields[action === 1 ? "added" : key] = structuredClone(values[roll(values.length)]);
}
