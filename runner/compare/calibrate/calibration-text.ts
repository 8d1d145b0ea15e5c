import { largestOf } from "../../extremes.ts";
import type { Calibration } from "../../model/comparison.ts";
import { isRate } from "../../result/fields.ts";
import { wrap } from "../../terminal/wrap.ts";
import { tell } from "../../text/tell.ts";
import { formatCount } from "../../units.ts";
import { usualMargin } from "../margin.ts";
import type { NotCalibrated } from "./measure.ts";
import { repeatsFor } from "./noise.ts";

/** A calibration for people: a table for each system and case, and what to do with it. */
export function renderCalibration(
	calibration: Calibration | null,
	missing: readonly NotCalibrated[],
	columns: number,
): string {
	const width = Math.max(40, columns);
	const groups = new Map<string, Noise[]>();
	for (const noise of calibration?.noise ?? []) {
		const title = `${noise.system}, ${noise.case}`;
		groups.set(title, [...(groups.get(title) ?? []), noise]);
	}
	const lines = [
		...[...groups].flatMap(([title, all]) => [
			...wrap(tell("noise-of", { title, runs: all[0]?.runs ?? 0, each: all[0]?.each ?? 0 }), width),
			"",
			...table(["figure", "noise", "tells a change of", "write in sla", "repeat"], all.map(row)),
			"",
		]),
		...missing.flatMap(({ system, case: name, metric, why }) => [
			...wrap(
				`Not known of ${system}, ${name}${metric === null ? "" : `, ${metric}`}: ${why}.`,
				width,
			),
			"",
		]),
	];
	if (groups.size > 0) for (const one of wrap(tell("noise-means"), width)) lines.push(one);
	return `${lines.join("\n")}\n`;
}

/** "p99 <= baseline + 12%": the margin that the noise calls for, in whole per cent. */
export function advised({ metric, halfWidth }: Pick<Noise, "metric" | "halfWidth">): string {
	// A hair above a whole per cent by floating point is still that.
	const percent = Math.max(1, Math.ceil(200 * halfWidth - 1e-6));
	const name = metric.replace(/^response /, "");
	const rate = isRate(metric);
	// The language takes no more.
	if (percent > (rate ? 90 : 900)) return "(too noisy)";
	return `${name} ${rate ? ">= baseline -" : "<= baseline +"} ${percent}%`;
}

// --- internal ---

type Noise = Calibration["noise"][number];

/** Beyond that a quieter machine is what it takes. */
const MOST_REPEATS = 100;

function row(noise: Noise): string[] {
	const repeats = repeatsFor(noise, usualMargin(noise.metric));
	return [
		noise.metric,
		`± ${percent(noise.halfWidth)}`.replace(/^± (.*x)$/, "$1"),
		percent(noise.detectable),
		advised(noise),
		repeats > MOST_REPEATS ? `> ${MOST_REPEATS}` : `${repeats}`,
	];
}

function percent(part: number): string {
	return part > 10
		? `${formatCount(Number((1 + part).toPrecision(2)))}x`
		: `${Number((100 * part).toPrecision(2))} %`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
	const all = [head, ...rows];
	const widths = head.map((_, i) => largestOf(all.map((cells) => (cells[i] ?? "").length)));
	return all.map((cells) =>
		`  ${cells
			.map((cell, i) =>
				i === 0 || i === 3 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0),
			)
			.join("  ")}`.trimEnd(),
	);
}
