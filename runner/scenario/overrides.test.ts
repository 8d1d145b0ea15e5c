import { describe, expect, test } from "vitest";
import { loadScenario } from "./load.ts";

const base = "system: nats\nworkload: { rate: 3000/s, message: 256B, duration: 10s }\n";

function load(set: string[], text = base) {
	return loadScenario("s.yaml", text, { set });
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
});
