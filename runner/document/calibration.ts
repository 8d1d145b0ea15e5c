import type { NotCalibrated } from "../compare/calibrate/measure.ts";
import { repeatsFor } from "../compare/calibrate/noise.ts";
import { usualMargin } from "../compare/margin.ts";
import type { Calibration } from "../model/comparison.ts";
import { isRate } from "../result/fields.ts";
import { bySystemAndCase } from "../result/select.ts";
import { percent } from "../text/percent.ts";
import * as doc from "./blocks.ts";

export function calibration(
	found: Calibration | null,
	missing: readonly NotCalibrated[],
): doc.Block[] {
	const groups = bySystemAndCase(found?.noise ?? []);
	const columns = [
		"figure",
		...doc.numbers(["noise", "tells a change of"]),
		"write in sla",
		...doc.numbers(["repeat"]),
	];
	return [
		...groups.flatMap(({ system, case: name, all }) => [
			doc.text(
				`Noise of ${system}, ${name}: ${all[0]?.runs ?? 0} runs of the same, compared in halves of ${all[0]?.each ?? 0}`,
			),
			doc.table(columns, all.map(row)),
		]),
		...missing.map(({ system, case: name, metric, why }) =>
			doc.text(`Not known of ${system}, ${name}${metric === null ? "" : `, ${metric}`}: ${why}`),
		),
		doc.text(groups.length > 0 ? MEANS : null),
	];
}

/** "p99 <= baseline + 12%": twice the noise, in whole per cent. */
export function advised({ metric, halfWidth }: Pick<Noise, "metric" | "halfWidth">): string {
	// A hair above a whole per cent by floating point is still that per cent.
	const margin = Math.max(1, Math.ceil(200 * halfWidth - 1e-6));
	const name = metric.replace(/^response /, "");
	const rate = isRate(metric);
	// The SLA language takes no more.
	if (margin > (rate ? 90 : 900)) return "(too noisy)";
	return `${name} ${rate ? ">= baseline -" : "<= baseline +"} ${margin}%`;
}

// --- internal ---

const MEANS =
	"noise: half the width of the ratio's 95 % interval between identical runs. tells a change of: the smallest change that this many runs on each side show in 95 of 100 cases. write in sla: twice the noise, below which two equal systems would often be undecided; compare raises a narrower margin to it on this machine. repeat: about how many runs the usual margin needs.";

type Noise = Calibration["noise"][number];

function row(noise: Noise): string[] {
	const repeats = repeatsFor(noise, usualMargin(noise.metric));
	return [
		noise.metric,
		`± ${percent(noise.halfWidth)}`,
		percent(noise.detectable),
		advised(noise),
		// Beyond that only a quieter machine helps.
		repeats > 100 ? "> 100" : `${repeats}`,
	];
}
