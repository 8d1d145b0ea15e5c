import type { Figure, SeriesKey } from "../charts/figure.ts";
import { keysOf } from "../charts/options.ts";

/** One switch: what it is called, which curves it is of, and how they look where they all look alike. */
export interface Switch {
	readonly value: string;
	readonly keys: readonly SeriesKey[];
	/** null: they differ, so the switch shows none. */
	readonly colour: number | null;
	readonly dash: number | null;
}

/** Switches that stand in a row: a curve is drawn if its switch in each row is on. */
export interface SwitchGroup {
	readonly title: string;
	readonly switches: readonly Switch[];
}

/** The rows of a figure. What all curves have in common needs no switch. */
export function switchGroups(figure: Figure): SwitchGroup[] {
	const keys = keysOf(figure);
	return dimensions(figure, keys).flatMap(([title, of]) => {
		const values = [...new Set(keys.map(of))];
		if (values.length < 2) return [];
		const switches = values.map((value) => {
			const ofValue = keys.filter((key) => of(key) === value);
			return {
				value,
				keys: ofValue,
				colour: common(ofValue.map((key) => key.colour)),
				dash: common(ofValue.map((key) => key.dash)),
			};
		});
		return [{ title, switches }];
	});
}

/** Which switches are on, and curves that are off all the same until one of theirs is pressed. */
export interface SwitchState {
	readonly on: ReadonlySet<Switch>;
	readonly but: ReadonlySet<string>;
}

/** As the figure says which curves are hidden. */
export function stateAtFirst(
	figure: Figure,
	groups: readonly SwitchGroup[],
): SwitchState {
	const all = groups.flatMap((group) => group.switches);
	return {
		on: new Set(all.filter((s) => s.keys.some((key) => !key.hidden))),
		but: new Set(
			keysOf(figure)
				.filter((key) => key.hidden)
				.map((key) => key.key),
		),
	};
}

/** The state after a switch was pressed. */
export function pressed(state: SwitchState, which: Switch): SwitchState {
	const on = new Set(state.on);
	if (!on.delete(which)) on.add(which);
	const own = new Set(which.keys.map((key) => key.key));
	return { on, but: new Set([...state.but].filter((key) => !own.has(key))) };
}

/** Keys of the curves that are off. */
export function offKeys(
	figure: Figure,
	groups: readonly SwitchGroup[],
	{ on, but }: SwitchState,
): Set<string> {
	const silent = groups.flatMap((g) => g.switches).filter((s) => !on.has(s));
	const off = new Set(silent.flatMap((s) => s.keys.map((key) => key.key)));
	return new Set(
		keysOf(figure)
			.map((key) => key.key)
			.filter((key) => off.has(key) || but.has(key)),
	);
}

// --- internal ---

type Dimension = readonly [title: string, of: (key: SeriesKey) => string];

function dimensions(figure: Figure, keys: readonly SeriesKey[]): Dimension[] {
	const groupings: Dimension[] = [
		["Systems", (key) => key.system],
		["Cases", (key) => key.case],
	];
	if (figure.kind === "percentiles") {
		const metrics = new Map(figure.curves.map((c) => [c.key, c.metric]));
		const metric = (key: SeriesKey) => metrics.get(key.key) ?? key.name;
		const alike = (key: SeriesKey) =>
			JSON.stringify([key.system, key.case, metric(key)]);
		const repeat = (key: SeriesKey) => {
			const same = keys.filter((other) => alike(other) === alike(key));
			return `${same.findIndex((other) => other.key === key.key) + 1}`;
		};
		return [
			...groupings,
			["Metrics", metric],
			keys.some((key) => key.run !== undefined)
				? ["Runs", (key) => key.run ?? repeat(key)]
				: ["Repeats", repeat],
		];
	}
	const place = new Set(keys.map((k) => JSON.stringify([k.system, k.case])));
	return place.size === keys.length
		? groupings
		: [...groupings, ["Curves", (key) => key.name]];
}

function common(values: readonly number[]): number | null {
	const [first] = values;
	return first !== undefined && values.every((v) => v === first) ? first : null;
}
