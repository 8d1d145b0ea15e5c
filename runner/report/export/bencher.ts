import { commandLine } from "../../shell.ts";
import { tell } from "../../text/tell.ts";
import type { Exported, Target } from "./exported.ts";
import { bySource } from "./groups.ts";
import { type Figure, nameOf, type Point, watchedFigures, weakOf } from "./points.ts";

/**
 * Bencher Metric Format: a file for each report and repeat, as a file has a benchmark once, and Bencher takes several files as iterations
 * (it is told never to fold them: percentiles are not averaged). A benchmark is a scenario, system and case; a measure has its unit in its name. The
 * commit and the date have no place in the file, but in the command that sends it.
 */
export function exportBencher(points: readonly Point[], { shown }: Target): Exported {
	const reports = bySource(points).map(({ folder, source, points }) => {
		const repeats = [...new Set(points.map(({ repeat }) => repeat))];
		const files = repeats
			.sort((a, b) => a - b)
			.map((repeat) => ({
				name: `${folder}repeat-${repeat}.json`,
				text: jsonOf(points.filter((point) => point.repeat === repeat)),
			}));
		return { source, points, files };
	});
	return {
		files: reports.flatMap(({ files }) => files),
		notes: reports.flatMap(({ source: { shown: report }, points }) => {
			const names = weakOf(points);
			return [
				...(names.length > 0 ? [tell("export-weak", { report, names })] : []),
				...(points.some(({ commit }) => commit?.dirty) ? [tell("export-dirty", { report })] : []),
			];
		}),
		hints: reports.map(({ points, files }) => {
			const [first] = points as [Point];
			const words = [
				"bencher",
				"run",
				"--adapter",
				"json",
				...files.flatMap(({ name }) => ["--file", shown(name)]),
				...(first.commit === null ? [] : ["--hash", first.commit.commit]),
				"--backdate",
				String(Math.floor(first.atMs / 1000)),
			];
			return commandLine(words);
		}),
	};
}

// --- internal ---

function jsonOf(points: readonly Point[]): string {
	const benchmarks = points.map((point) => [
		nameOf(point),
		Object.fromEntries(
			watchedFigures(point).map((figure) => [`${figure.name} (${figure.unit})`, metricOf(figure)]),
		),
	]);
	return `${JSON.stringify(Object.fromEntries(benchmarks), null, "\t")}\n`;
}

function metricOf({ value, low, high }: Figure): object {
	return {
		value,
		...(low === null ? {} : { lower_value: low }),
		...(high === null ? {} : { upper_value: high }),
	};
}
