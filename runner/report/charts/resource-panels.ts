import type { Run } from "../summary.ts";
import type { TimeFigure } from "./figure.ts";
import { type Draft, type Points, ticksOf, worst } from "./stretches.ts";

type Unit = TimeFigure["panels"][number]["unit"];

/** What generator and broker used; of a longer stretch the most. The generator's CPU is its own count where nobody has looked from outside. */
export function resources(run: Run, size: number): Draft[] {
	const warmup = run.window.startNs / 1e9;
	const end = Math.ceil(run.window.endNs / 1e9);
	const looks = run.series.resources;
	type Look = (typeof looks)[number];
	const series = (of: (look: Look) => number | null | undefined): Points =>
		worst(
			looks
				.filter(({ at }) => Math.round(at) > 0 && Math.round(at) <= end)
				.map(({ at, ...look }) => [
					Math.round(at) - 1 - warmup,
					of({ at, ...look }) ?? null,
				]),
			size,
			warmup,
		);
	const ofTicks = (of: (tick: Run["series"]["ticks"][number]) => number) =>
		worst(
			ticksOf(run).map((t) => [t.at - 1 - warmup, of(t)]),
			size,
			warmup,
		);
	const looked = looks.some((l) => l.generator?.cores != null);
	const panel = (
		title: string,
		unit: Unit,
		lines: readonly (readonly [key: string, name: string, Points])[],
	): Draft => ({
		title,
		unit,
		logarithmic: false,
		limits: [],
		lines: lines.some(([, , points]) => points.some(([, v]) => (v ?? 0) > 0))
			? lines
					.filter(([, , points]) => points.some(([, v]) => v !== null))
					.map(([key, name, points]) => ({
						key,
						name,
						offset: COLOURS[key] ?? 0,
						dash: COLOURS[key] ?? 0,
						hidden: false,
						steps: true,
						points,
					}))
			: [],
	});
	return [
		panel("CPU, cores", "cores", [
			[
				"generator",
				"generator",
				looked
					? series((l) => l.generator?.cores)
					: ofTicks((t) => t.cpuNs / 1e9),
			],
			["broker", "broker", series((l) => l.broker?.cores)],
		]),
		panel("disk, bytes per second", "bytes/s", [
			[
				"generator",
				"generator writes",
				series((l) => l.generator?.writeBytesPerSecond),
			],
			["broker", "broker writes", series((l) => l.broker?.writeBytesPerSecond)],
			[
				"broker-reads",
				"broker reads",
				series((l) => l.broker?.readBytesPerSecond),
			],
		]),
		panel("memory (RSS)", "bytes", [
			["generator", "generator", series((l) => l.generator?.rssBytes)],
			["broker", "broker", series((l) => l.broker?.rssBytes)],
		]),
		panel("generator stopped by garbage collection, per second", "ns", [
			["generator", "generator", ofTicks((t) => t.gcPauseNs)],
		]),
	];
}

// --- internal ---

/** Positions of colour and dashes: a process keeps them over all panels. */
const COLOURS: Readonly<Record<string, number>> = {
	generator: 0,
	broker: 1,
	"broker-reads": 2,
};
