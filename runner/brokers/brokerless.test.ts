import { describe, expect, test } from "vitest";
import { expand } from "../plan/expand.ts";
import { floors } from "../plan/floor.ts";
import { placeLines } from "../plan/place-text.ts";
import { loadScenario } from "../scenario/load.ts";
import { hasProcess, SystemOptions } from "./index.ts";

function scenario(system: string, more = "") {
	return loadScenario(
		"s.yaml",
		`system: ${system}\nworkload: {pattern: round-trip, rate: 100/s, message: 256B, duration: 2s}\n${more}`,
		{},
		{},
		{ folder: "/", platform: "linux", fileBytes: () => null, fileText: () => "" },
	);
}

describe.each(["zeromq", "nanomsg"] as const)("%s", (broker) => {
	test("has no server, unless a forwarder stands between", () => {
		expect(hasProcess(SystemOptions.parse({ broker }))).toBe(false);
		expect(hasProcess(SystemOptions.parse({ broker, forwarder: true }))).toBe(true);
	});

	test("is planned without a server, and its floor is measured like that of others", () => {
		const plans = expand(scenario(broker), {});
		expect(plans.map(({ server }) => server)).toEqual([false]);
		expect(floors(plans)).toHaveLength(1);
		const [plan] = expand(scenario(`{broker: ${broker}, forwarder: true}`), {});
		expect(plan?.server).toBe(true);
	});

	test("runs on every target without an address", () => {
		const existing = scenario(broker, "target: existing");
		expect(existing.systems[0]?.url).toBeNull();
		expect(placeLines(existing, new Set([broker]))).toEqual([
			`${broker}: no server, its clients are connected to each other`,
		]);
	});
});

test("a fault can meet a forwarder", () => {
	const fault = "faults: [{at: 1s, action: pause, for: 200ms}]";
	expect(scenario("{broker: zeromq, forwarder: true}", fault).faults).toHaveLength(1);
});
