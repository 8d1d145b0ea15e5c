import { describe, expect, test } from "vitest";
import { parseSla } from "../scenario/sla.ts";
import { type Promises, promisedGates } from "./promises.ts";

const nothing: Promises = {
	pattern: "round-trip",
	delivery: "at-most-once",
	order: "none",
	checksum: false,
	find: null,
};

function texts(promises: Partial<Promises>, ...written: string[]): string[] {
	return promisedGates({ ...nothing, ...promises }, written.map(parseSla)).map(({ text }) => text);
}

describe("gates that follow from what is promised", () => {
	test.each<[string, Partial<Promises>, string[]]>([
		["nothing promised, nothing gated", {}, []],
		["publish: nothing is received", { pattern: "publish", delivery: "at-least-once" }, []],
		[
			"at-least-once: nothing lost",
			{ delivery: "at-least-once" },
			["lost == 0 (delivery: at-least-once)"],
		],
		[
			"exactly-once: nothing lost, nothing twice",
			{ delivery: "exactly-once" },
			["lost == 0 (delivery: exactly-once)", "duplicated == 0 (delivery: exactly-once)"],
		],
		[
			"per-producer: nothing reordered",
			{ order: "per-producer" },
			["reordered == 0 (order: per-producer)"],
		],
		["checksum: nothing corrupted", { checksum: true }, ["corrupted == 0 (checksum: true)"]],
	])("%s", (_, promises, gates) => {
		expect(texts(promises)).toEqual(gates);
	});

	test("a tally that the scenario judges itself is left to it, whatever its limit", () => {
		expect(texts({ delivery: "exactly-once" }, "lost <= 5")).toEqual([
			"duplicated == 0 (delivery: exactly-once)",
		]);
		expect(texts({ order: "per-producer" }, "lost == 0", "p99 < 1ms")).toEqual([
			"reordered == 0 (order: per-producer)",
		]);
	});

	test("stop no run early, and are met by 0 alone", () => {
		expect(promisedGates({ ...nothing, checksum: true }, [])).toEqual([
			{
				kind: "tally",
				text: "corrupted == 0 (checksum: true)",
				tally: "corrupted",
				op: "==",
				limit: 0,
				abort: false,
			},
		]);
	});
});
