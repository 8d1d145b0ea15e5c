import { stringify } from "yaml";
import { isRate } from "../../compare/figures.ts";
import { hashOf, machineOf } from "../../compare/same-machine.ts";
import { searchFacts, workFacts } from "../../compare/work.ts";
import { tell } from "../../text/tell.ts";
import { commitName } from "../commit.ts";
import { csvCell } from "../csv-cell.ts";
import type { Exported, Target } from "./exported.ts";
import { fileName } from "./groups.ts";
import { type Figure, msOf, nameOf, type Point, watchedFigures } from "./points.ts";

/**
 * Apache Otava (formerly Hunter): a CSV for each series, the oldest run first, and a configuration with a test for each. A series is what a
 * line of the index joins: one scenario, system and case, the same work and durability, one kind of machine. Otava needs a number in each row:
 * an empty cell stops it, and with a NaN it finds no change at all in that column. So a figure that some runs lack has a file and a test of its
 * own, of the runs that have it. Otava knows no units: latencies are in ms.
 */
export function exportOtava(points: readonly Point[], { shown }: Target): Exported {
	const tests = seriesOf(points).flatMap(testsOf);
	return {
		files: [
			{ name: CONFIG, text: configOf(tests, shown) },
			...tests.map((test) => ({ name: fileOf(test), text: csvOf(test) })),
		],
		notes: [],
		hints: [`otava --config-file ${shown(CONFIG)} analyze <test>`],
	};
}

// --- internal ---

const CONFIG = "otava.yaml";

interface Series {
	readonly name: string;
	/** The oldest first. */
	readonly points: readonly Point[];
}

interface Test extends Series {
	/** Figures that each of its points has. */
	readonly figures: readonly string[];
}

/** The oldest of several series of one name keeps it as it is: results that are added do not change what it is called. */
function seriesOf(points: readonly Point[]): Series[] {
	const series = new Map<string, Point[]>();
	for (const point of [...points].sort((a, b) => a.atMs - b.atMs)) {
		const key = keyOf(point);
		series.set(key, [...(series.get(key) ?? []), point]);
	}
	const taken = new Set<string>();
	return [...series].map(([key, own]) => {
		const plain = nameOf(own[0] as Point);
		const file = fileName(plain).toLowerCase();
		const name = taken.has(file) ? `${plain} ${hashOf(key).slice(0, 6)}` : plain;
		taken.add(file);
		return { name, points: own };
	});
}

function keyOf(point: Point): string {
	const { source, run, search } = point;
	const machine = machineOf(source.result.environment)?.fingerprint;
	return JSON.stringify([
		nameOf(point),
		hashOf(search === null ? workFacts(run) : searchFacts(run, search.sla)),
		run.load.durability,
		// What nobody knows may be another machine each time.
		machine ?? source.folder,
	]);
}

function testsOf({ name, points }: Series): Test[] {
	const all = points.map((point) => ({
		point,
		figures: watchedFigures(point).map((figure) => figure.name),
	}));
	const names = [...new Set(all.flatMap(({ figures }) => figures))];
	const having = (figure: string) => all.filter(({ figures }) => figures.includes(figure));
	const everywhere = names.filter((figure) => having(figure).length === points.length);
	const others = names.filter((figure) => !everywhere.includes(figure));
	return [
		...(everywhere.length === 0 ? [] : [{ name, points, figures: everywhere }]),
		...others.map((figure) => ({
			name: `${name}: ${figure}`,
			points: having(figure).map(({ point }) => point),
			figures: [figure],
		})),
	];
}

function fileOf({ name }: Test): string {
	return `${fileName(name)}.csv`;
}

function csvOf({ points, figures }: Test): string {
	const rows = points.map((point) => {
		const found = new Map(point.figures.map((f) => [f.name, f]));
		return [
			new Date(point.atMs).toISOString(),
			point.commit === null ? "" : commitName(point.commit),
			point.source.result.runId,
			String(point.repeat),
			point.run.versions?.server || point.run.brokerVersion || "",
			figures
				.filter((name) => found.get(name)?.support !== "ok")
				.map(columnOf)
				.join(" "),
			...figures.map((name) => String(numberOf(found.get(name) as Figure))),
		];
	});
	const names = [...ATTRIBUTES, ...figures.map(columnOf)];
	return [["time", ...names], ...rows]
		.map((cells) => `${cells.map(csvCell).join(",")}\r\n`)
		.join("");
}

/** `weak`: columns whose number has too few samples behind it, or is the timeout in place of a larger one. */
const ATTRIBUTES = ["commit", "run_id", "repeat", "broker", "weak"];

function configOf(tests: readonly Test[], shown: (name: string) => string): string {
	const config = tests.map((test) => [
		test.name,
		{
			type: "csv",
			file: shown(fileOf(test)),
			time_column: "time",
			attributes: ATTRIBUTES,
			metrics: Object.fromEntries(
				test.figures.map((name) => [
					columnOf(name),
					// Of a rate more is better.
					{ direction: isRate(name) ? 1 : -1 },
				]),
			),
		},
	]);
	return `# ${tell("export-otava-config")}\n${stringify({ tests: Object.fromEntries(config) }, { aliasDuplicateObjects: false })}`;
}

/** "response_p99_ms", "throughput_per_second" */
function columnOf(figure: string): string {
	const unit = isRate(figure) ? "per_second" : "ms";
	return `${figure.replaceAll(" ", "_")}_${unit}`;
}

function numberOf({ unit, value }: Figure): number {
	return unit === "ns" ? msOf(value) : value;
}
