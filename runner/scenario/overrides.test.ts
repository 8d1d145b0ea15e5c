import { describe, expect, test } from "vitest";
import { MqbenchError } from "../errors.ts";
import { loadScenario } from "./load.ts";

const base = "system: nats\nworkload: { rate: 3000/s, message: 256B, duration: 10s }\n";

function load(set: string[], text = base) {
	return loadScenario("s.yaml", text, { set });
}

function refusal(set: string[], text = base): string {
	try {
		load(set, text);
	} catch (error) {
		if (error instanceof MqbenchError) return error.message;
		throw error;
	}
	throw new Error("the override was taken");
}

describe("--set", () => {
	test("replaces single values before anything is checked", () => {
		const scenario = load([
			"workload.rate=5000/s",
			"workload.connections=4",
			"repeat=3",
			"strict=true",
			"name=other",
			"system.port=4223",
		]);
		expect(scenario).toMatchObject({
			name: "other",
			repeat: 3,
			strict: true,
			systems: [{ broker: "nats", port: 4223 }],
			cases: [{ name: "256B 5000/s", connections: 4 }],
		});
	});

	test("makes the maps that the file lacks, and mends its mistakes", () => {
		const set = ["workload.rate=5/s", "workload.message=1KiB", "workload.duration=9s"];
		expect(load(set, "system: nats\n").cases[0]?.name).toBe("1KiB 5/s");
		expect(
			load(["workload.rate=5/s"], base.replace("3000/s", "-1/s")).cases[0]?.schedule,
		).toMatchObject({ rate: { messages: 5 } });
	});

	test("reaches into lists from 0; the last of two wins", () => {
		const text = `${base}cases: [{ message: 1KiB }, { message: 2KiB }]\n`;
		expect(
			load(["cases.1.message=3KiB", "cases.1.message=4KiB"], text).cases.map(({ name }) => name),
		).toEqual(["1KiB", "4KiB"]);
	});

	test("sets one of two cases that share an anchor, not both", () => {
		const text = `${base}cases: [&a { message: 1KiB }, *a]\n`;
		expect(load(["cases.1.message=4KiB"], text).cases.map(({ name }) => name)).toEqual([
			"1KiB",
			"4KiB",
		]);
	});

	test.each([
		["workload.raet=5/s", '--set workload.raet=5/s: unknown key "raet"; did you mean rate?'],
		[
			"wrokload.rate=5/s",
			'--set wrokload.rate=5/s: unknown key "wrokload"; did you mean workload?',
		],
		["workload.rate=-5/s", "--set workload.rate=-5/s: rate must be above 0, got -5/s"],
		["workload.rate=5", "--set workload.rate=5: rate 5 has no unit; write 5/s"],
		["workload.rate=", "--set workload.rate=: a rate is empty; write e.g. 3000/s or 90/min"],
		[
			"workload.rate.x=5",
			"--set workload.rate.x=5: workload.rate is a single value; write workload.rate=...",
		],
		[
			"workload=[1]",
			"--set workload=[1]: the value must be a single one; write lists and maps in the file",
		],
		[
			"workload.arrivals=poison",
			'--set workload.arrivals=poison: unknown arrivals "poison"; did you mean poisson?',
		],
		["rate", "--set rate: write path=value, e.g. --set workload.rate=5000/s"],
		[
			"workload..rate=5/s",
			"--set workload..rate=5/s: a step of the path is empty; write e.g. workload.rate=5000/s",
		],
		[
			"cases.0.rate=5/s",
			"--set cases.0.rate=5/s: the file has no list cases; write a key instead of 0",
		],
		["__proto__.polluted=1", '--set __proto__.polluted=1: unknown key "__proto__"'],
	])("%s is refused by its own name", (set, sentence) => {
		const report = refusal([set]);
		expect(report).toContain(sentence);
		expect(report).not.toContain("s.yaml:");
		expect(({} as { polluted?: number }).polluted).toBeUndefined();
	});

	test("is blamed for a line that was right without it", () => {
		const text = `${base.replace("10s", "10s, consumers: 2, pattern: work-queue").replace("system: nats", "system: { broker: nats, mode: jetstream }")}`;
		expect(refusal(["workload.pattern=round-trip"], text)).toBe(
			"--set workload.pattern=round-trip: consumers needs pattern: work-queue, backlog or request-reply; this workload is round-trip (s.yaml:2)",
		);
		expect(refusal(["repeat=2"], text.replace("work-queue", "round-trip"))).toMatch(
			/^s\.yaml:2:\d+ consumers needs pattern: /,
		);
	});

	test("tells how long a list is", () => {
		expect(refusal(["cases.2.rate=5/s"], `${base}cases: [{}]\n`)).toContain(
			"--set cases.2.rate=5/s: cases is a list with 1 item, counted from 0; write e.g. cases.0",
		);
	});

	test("is refused when every case overrides it again", () => {
		expect(
			refusal(["workload.rate=5/s"], `${base}cases: [{ rate: 1/s }, { rate: 2/s }]\n`),
		).toContain(
			"--set workload.rate=5/s: changes nothing, as each case sets rate; write e.g. --set cases.0.rate=...",
		);
	});
});
