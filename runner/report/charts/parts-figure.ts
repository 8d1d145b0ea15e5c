import type { Result, Run } from "../../model/result.ts";
import { formatDuration } from "../../units.ts";
import { MAX, partsText } from "../breakdown.ts";
import { factsText, loadText, percentileName, runTitle } from "../words.ts";
import type { PartsFigure } from "./figure.ts";

/** Where the time went, by percentile. null: not known, or there is no response time to divide. */
export function partsFigure(id: string, run: Run, result: Result): PartsFigure | null {
	const rows = (run.breakdown ?? []).flatMap((parts): PartsFigure["rows"] => {
		const { p, response, queued, lag, service } = parts;
		// Where clocks disagree by more than a message took, shares mean nothing.
		if (!response || queued === null || lag === null || (service ?? -1) < 0) return [];
		return [
			{
				name: p === MAX ? "max" : percentileName(p),
				// In hundredths of a percent, as a hundred runs have many of them.
				shares: [queued, lag, service ?? 0].map((ns) => Math.round((10_000 * ns) / response) / 100),
				text: formatDuration(response),
				sentence: partsText(run, parts),
			},
		];
	});
	return rows.length === 0
		? null
		: {
				kind: "parts",
				id,
				title: `Where the time went: ${runTitle(run, result)}`,
				facts: `${factsText(run, result)}; ${loadText(run)}`,
				// The rows have a sentence each; said twice they would be half of a figure.
				description: (rows.find(({ name }) => name === "p99") ?? rows.at(-1))?.sentence ?? "",
				rows,
			};
}
