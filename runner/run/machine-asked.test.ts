import { describe, expect, test } from "vitest";
import { unmetSettings } from "./machine-asked.ts";

const ALL = { maxCState: 1, smt: "off", interruptModeration: "off" } as const;
const SET = {
	idleDriver: "acpi_idle",
	bootMaxCState: null,
	cStates: "POLL, C1",
	maxCState: 1,
	smt: "off",
	governor: null,
	interruptModeration: "adaptive-rx off, rx-usecs 0, tx-usecs 0",
};

describe("of a machine", () => {
	test("that is as asked, or is asked nothing, there is nothing to say", () => {
		expect(unmetSettings(ALL, "a", SET)).toEqual([]);
		const nothing = { maxCState: null, smt: null, interruptModeration: null };
		const other = { ...SET, smt: "on", cStates: null, maxCState: null };
		expect(unmetSettings(nothing, "a", other)).toEqual([]);
	});

	test.each(["forceoff", "notsupported", "notimplemented"])(
		"whose kernel says %s no two threads share a core",
		(smt) => {
			expect(unmetSettings(ALL, "a", { ...SET, smt })).toEqual([]);
		},
	);

	test.each([
		[
			{ cStates: "POLL, C1, C6", maxCState: 2 },
			"a: cores may enter the C-states POLL, C1, C6, and the scenario asks for at most number 1",
		],
		[
			{ cStates: null, maxCState: null, idleDriver: "none" },
			"a: C-states cannot be set, as the machine's own host decides on them (driver none), and the scenario asks for at most number 1",
		],
		[
			{ cStates: "poll, haltpoll", maxCState: 1, idleDriver: "haltpoll" },
			"a: C-states cannot be set, as the machine's own host decides on them (driver haltpoll), and the scenario asks for at most number 1",
		],
		[{ smt: "on" }, "a: SMT is on, and the scenario asks for off"],
		[{ smt: null }, "a: SMT is not known, and the scenario asks for off"],
		[
			{ interruptModeration: "adaptive-rx on, tx-usecs 0" },
			"a: interrupt moderation is adaptive-rx on, tx-usecs 0, and the scenario asks for off",
		],
		[
			{ interruptModeration: null },
			"a: interrupt moderation is not known, and the scenario asks for off",
		],
	])("that is not as asked one sentence says so: %j", (found, words) => {
		expect(unmetSettings(ALL, "a", { ...SET, ...found })).toEqual([words]);
	});
});
