import { expect, test } from "vitest";
import type { Run } from "../model/result.ts";
import { fixtureResult } from "./stored.fake.ts";
import { warningsOf, warningText } from "./warnings.ts";

const result = fixtureResult("healthy");
const [template] = result.runs as [Run];
/** A run of the given repeat with these checks that warn. */
const warned = (repeat: number, ...checks: string[]): Run => ({
	...template,
	repeat,
	validity: checks.map((check) => ({
		check,
		status: "warn" as const,
		detail: `${check} of ${repeat}`,
		figure: null,
		limit: null,
		remedy: "mend it",
	})),
});

test("a check that warns in several runs is told once, with how many they are and what the first said", () => {
	const runs = [warned(1, "steal"), warned(2, "steal", "others"), warned(3)];
	expect(warningsOf({ ...result, runs }).map(warningText)).toEqual([
		"steal (2 of 3 runs): nats, 256B 1000/s, repeat 1 of 3: steal of 1",
		"others (1 of 3 runs): nats, 256B 1000/s, repeat 2 of 3: others of 2",
	]);
});

test("of a drift the largest is told, not the first", () => {
	const drifting = (repeat: number, share: number): Run => {
		const run = warned(repeat, "steady");
		const validity = run.validity.map((c) => ({ ...c, values: { share } }));
		return { ...run, validity };
	};
	const runs = [drifting(1, 0.25), drifting(2, -0.9), drifting(3, 0.4)];
	expect(warningsOf({ ...result, runs }).map(warningText)).toEqual([
		"steady (3 of 3 runs): nats, 256B 1000/s, repeat 2 of 3: steady of 2",
	]);
});

test("of a single run its sentence is enough", () => {
	const runs = [warned(1, "floor")];
	expect(warningsOf({ ...result, runs }).map(warningText)).toEqual(["floor: floor of 1"]);
});

test("what is ok, unknown or decided the verdict is no warning", () => {
	const runs = [template, warned(2, "lag")].map((run) => ({
		...run,
		validity: run.validity.map((c) => ({ ...c, status: "invalid" as const })),
	}));
	expect(warningsOf({ ...result, runs })).toEqual([]);
});
