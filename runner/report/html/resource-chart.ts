import { formatBytes, formatDuration } from "../../units.ts";
import type { Run } from "../summary.ts";
import {
	type Area,
	type Caption,
	label,
	line,
	linearScale,
	type Point,
	picture,
	valueAxis,
} from "../svg.ts";
import { type Markup, markup } from "./markup.ts";
import {
	LEFT,
	RIGHT,
	secondAxis,
	secondScale,
	warmupBand,
	width,
} from "./time-chart.ts";

/** What was used in one second of real time; of a longer stretch the most. null: not known. */
export interface ResourceRow {
	/** Its end, seconds from the window's start. */
	readonly second: number;
	readonly generatorCores: number | null;
	readonly brokerCores: number | null;
	readonly generatorRss: number | null;
	readonly brokerRss: number | null;
	readonly generatorWritten: number | null;
	readonly brokerWritten: number | null;
	readonly gcPauseNs: number | null;
}

type Key = Exclude<keyof ResourceRow, "second">;

/** CPU, memory, disk and garbage collection under the axis of the chart of latency over time. null: nobody has looked. */
export function resourceChart(
	id: string,
	caption: Pick<Caption, "title" | "facts">,
	run: Run,
	most: number,
): Markup | null {
	const rows = resourceRows(run, most);
	const panels = PANELS.filter((panel) =>
		rows.some((row) => panel.keys.some(([key]) => (row[key] ?? 0) > 0)),
	);
	if (panels.length === 0) return null;
	const x = secondScale(run);
	const bottom = TOP + panels.length * STRIDE;
	return picture(
		id,
		{ width: 720, height: bottom + 20 },
		{
			...caption,
			description: panels.map((panel) => describe(panel, rows)).join(" "),
		},
		markup`${warmupBand(run, x, { top: TOP, bottom: bottom - STRIDE + HEIGHT })}
${panels.map((panel, i) => panelOf(panel, rows, x, TOP + i * STRIDE))}
${secondAxis(run, x, bottom - STRIDE + HEIGHT)}`,
	);
}

/** The same as a table. */
export function resourceTable(run: Run, most: number): Markup | null {
	const rows = resourceRows(run, most);
	const seconds = width(run, most);
	if (rows.length === 0) return null;
	const columns = PANELS.flatMap((panel) =>
		panel.keys.map(([key, , name]) => ({ key, name, text: panel.text })),
	).filter(({ key }) => rows.some((row) => row[key] !== null));
	if (columns.length === 0) return null;
	return markup`<details><summary>Resources as a table${seconds > 1 && `: the most of each ${seconds} seconds`}</summary><div class="wide"><table><thead><tr><th class="n">second</th>${columns.map((c) => markup`<th class="n">${c.name}</th>`)}</tr></thead><tbody>
${rows.map(
	(row) =>
		markup`<tr><td class="n">${row.second}</td>${columns.map((c) => {
			const value = row[c.key];
			return markup`<td class="n">${value === null ? "n/a" : c.text(value)}</td>`;
		})}</tr>
`,
)}</tbody></table></div></details>`;
}

/** One row a second, at most `most` or so. The generator's CPU comes from its own count where nobody has looked from outside. */
export function resourceRows(run: Run, most: number): ResourceRow[] {
	const warmup = run.window.startNs / 1e9;
	const end = Math.ceil(run.window.endNs / 1e9);
	const size = width(run, most);
	const rows = new Map<number, ResourceRow>();
	const put = (at: number, part: Partial<ResourceRow>) => {
		const second = Math.round(at);
		if (second <= 0 || second > end) return;
		const key = Math.ceil(second / size) * size;
		rows.set(
			key,
			larger(rows.get(key) ?? { ...EMPTY, second: key - warmup }, part),
		);
	};
	for (const { at, generator, broker } of run.series.resources)
		put(at, {
			generatorCores: generator?.cores ?? null,
			brokerCores: broker?.cores ?? null,
			generatorRss: generator?.rssBytes ?? null,
			brokerRss: broker?.rssBytes ?? null,
			generatorWritten: generator?.writeBytesPerSecond ?? null,
			brokerWritten: broker?.writeBytesPerSecond ?? null,
		});
	const looked = [...rows.values()].some((r) => r.generatorCores !== null);
	for (const tick of run.series.ticks)
		put(tick.at, {
			gcPauseNs: tick.gcPauseNs,
			...(looked ? {} : { generatorCores: tick.cpuNs / 1e9 }),
		});
	return [...rows.values()].sort((a, b) => a.second - b.second);
}

// --- internal ---

const TOP = 24;
const HEIGHT = 52;
const STRIDE = 84;

interface Panel {
	readonly title: string;
	/** Field, class of its curve, its name in the table. */
	readonly keys: readonly (readonly [Key, string, string])[];
	readonly text: (value: number) => string;
}

const PANELS: readonly Panel[] = [
	{
		title: "CPU, cores",
		keys: [
			["generatorCores", "achieved", "generator's CPU"],
			["brokerCores", "broker", "broker's CPU"],
		],
		text: (v) => `${Number(v.toPrecision(2))}`,
	},
	{
		title: "memory (RSS)",
		keys: [
			["generatorRss", "achieved", "generator's memory"],
			["brokerRss", "broker", "broker's memory"],
		],
		text: formatBytes,
	},
	{
		title: "written to disk per second",
		keys: [
			["generatorWritten", "achieved", "generator's writes/s"],
			["brokerWritten", "broker", "broker's writes/s"],
		],
		text: formatBytes,
	},
	{
		title: "generator stopped by garbage collection, per second",
		keys: [["gcPauseNs", "achieved", "GC pauses"]],
		text: formatDuration,
	},
];

const EMPTY: Omit<ResourceRow, "second"> = {
	generatorCores: null,
	brokerCores: null,
	generatorRss: null,
	brokerRss: null,
	generatorWritten: null,
	brokerWritten: null,
	gcPauseNs: null,
};

function larger(row: ResourceRow, part: Partial<ResourceRow>): ResourceRow {
	const result = { ...row };
	for (const [name, value] of Object.entries(part)) {
		const key = name as Key;
		const known = row[key];
		if (value !== null)
			result[key] = known === null ? value : Math.max(known, value);
	}
	return result;
}

function panelOf(
	panel: Panel,
	rows: readonly ResourceRow[],
	x: (second: number) => number,
	top: number,
): Markup {
	const area: Area = { left: LEFT, right: RIGHT, top, bottom: top + HEIGHT };
	const values = rows.flatMap((r) => panel.keys.map(([key]) => r[key] ?? 0));
	const y = linearScale(Math.max(...values), area, 2);
	const points = (key: Key) =>
		rows.map((r): Point | null => {
			const value = r[key];
			return value === null ? null : [x(r.second - 0.5), y(value)];
		});
	return markup`${valueAxis(y, area, panel.text)}
${panel.keys.map(([key, name]) => markup`<g class="${name}">${line(points(key), "curve")}</g>`)}
${label(panel.title, [LEFT, top - 8])}`;
}

function describe(panel: Panel, rows: readonly ResourceRow[]): string {
	const parts = panel.keys.flatMap(([key, , name]) => {
		const values = rows.map((r) => r[key]).filter((v) => v !== null);
		return values.length === 0
			? []
			: [`${name} at most ${panel.text(Math.max(...values))}`];
	});
	return `${parts.join(", ")}.`;
}
