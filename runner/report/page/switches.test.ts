import { describe, expect, test } from "vitest";
import type { PercentileFigure } from "../charts/figure.ts";
import {
	offKeys,
	pressed,
	type SwitchGroup,
	stateAtFirst,
	switchGroups,
} from "./switches.ts";

describe("the switches of a figure of 2 systems, 2 cases and 2 metrics", () => {
	const figure = ofCurves(
		["nats", "kafka"].flatMap((system) =>
			["256B", "1KiB"].flatMap((name) =>
				["response", "service"].map((metric) => [system, name, metric]),
			),
		),
	);
	const groups = switchGroups(figure);
	const first = stateAtFirst(figure, groups);
	const off = (state: typeof first) => [...offKeys(figure, groups, state)];

	test("stand in three rows", () => {
		expect(
			groups.map((g) => [g.title, ...g.switches.map((s) => s.value)]),
		).toEqual([
			["Systems", "nats", "kafka"],
			["Cases", "256B", "1KiB"],
			["Metrics", "response", "service"],
		]);
	});

	test("are on as the figure says: service is hidden at first", () => {
		expect(off(first)).toHaveLength(4);
		expect(off(first).every((key) => key.endsWith("service"))).toBe(true);
	});

	test("a curve is on while its switch in each row is", () => {
		const withService = pressed(first, named(groups, "service"));
		expect(off(withService)).toEqual([]);
		const noNats = pressed(withService, named(groups, "nats"));
		expect(off(noNats).every((key) => key.startsWith("nats"))).toBe(true);
		const nothing = pressed(noNats, named(groups, "kafka"));
		expect(off(nothing)).toHaveLength(8);
		// What the other rows say is not forgotten meanwhile.
		const back = pressed(
			pressed(nothing, named(groups, "response")),
			named(groups, "nats"),
		);
		expect(off(back).filter((key) => key.startsWith("nats"))).toEqual([
			"nats 256B response",
			"nats 1KiB response",
		]);
	});
});

test("what all curves have in common has no switch", () => {
	const figure = ofCurves([
		["nats", "256B", "response"],
		["nats", "256B", "ack"],
	]);
	expect(switchGroups(figure).map((g) => g.title)).toEqual(["Metrics"]);
	expect(switchGroups(ofCurves([["nats", "256B", "ack"]]))).toEqual([]);
});

test("repeats have a row of their own", () => {
	const figure = ofCurves([
		["a", "1", "response"],
		["b", "1", "response"],
		["a", "1", "response"],
	]);
	const curves = figure.curves.map((c, i) => ({
		...c,
		key: `${i}`,
		hidden: i === 2,
	}));
	const groups = switchGroups({ ...figure, curves });
	expect(
		groups.map((g) => [g.title, ...g.switches.map((s) => s.value)]),
	).toEqual([
		["Systems", "a", "b"],
		["Repeats", "1", "2"],
	]);
});

test("runs with a name have a switch of that name, whatever their number is: what is on is what is drawn", () => {
	const figure = ofCurves([
		["A", "1", "response"],
		["A", "1", "response"],
		["B", "1", "response"],
		["B", "1", "response"],
	]);
	const curves = figure.curves.map((c, i) => {
		const hidden = i === 0 || i === 3;
		return {
			...c,
			key: `${i}`,
			hidden,
			run: hidden ? "other runs" : "median run",
		};
	});
	const groups = switchGroups({ ...figure, curves });
	const first = stateAtFirst({ ...figure, curves }, groups);
	expect(groups.map((g) => g.title)).toEqual(["Systems", "Runs"]);
	expect([...first.on].map((s) => s.value)).toEqual(["A", "B", "median run"]);
	const others = pressed(first, named(groups, "other runs"));
	expect(offKeys({ ...figure, curves }, groups, others).size).toBe(0);
});

test("a curve that is hidden among others of its kind comes with any switch of its own", () => {
	const figure = ofCurves([
		["a", "1", "response"],
		["a", "2", "response"],
		["b", "1", "response"],
	]);
	const curves = figure.curves.map((c, i) => ({ ...c, hidden: i === 1 }));
	const second: PercentileFigure = {
		...figure,
		curves: [...curves, { ...curves[0], key: "b2", system: "b", case: "2" }],
	} as PercentileFigure;
	const groups = switchGroups(second);
	const first = stateAtFirst(second, groups);
	expect([...offKeys(second, groups, first)]).toEqual(["a 2 response"]);
	const again = pressed(pressed(first, named(groups, "2")), named(groups, "2"));
	expect([...offKeys(second, groups, again)]).toEqual([]);
});

// --- internal ---

function named(groups: readonly SwitchGroup[], value: string) {
	const found = groups
		.flatMap((g) => g.switches)
		.find((s) => s.value === value);
	if (found === undefined) throw new Error(`no switch ${value}`);
	return found;
}

/** Of system, case and metric; service is hidden. */
function ofCurves(names: readonly (readonly string[])[]): PercentileFigure {
	return {
		kind: "percentiles",
		id: "x",
		title: "x",
		facts: "",
		description: "",
		hidden: [],
		limits: [],
		curves: names.map(([system = "", of = "", metric = ""]) => ({
			key: `${system} ${of} ${metric}`,
			name: `${system} ${metric}`,
			system,
			case: of,
			metric,
			colour: 0,
			dash: 0,
			hidden: metric === "service",
			points: [
				[0, 1],
				[90, 2],
			],
			max: null,
			marks: [],
			censored: null,
		})),
	};
}
