import type { Point, Source } from "./points.ts";

interface OfSource {
	readonly source: Source;
	/** In the order of the report. */
	readonly points: readonly Point[];
	/** Where its files go: of the only report into the folder of the export itself, "", of several each into its own, "<run-id>/". */
	readonly folder: string;
}

/** For formats whose files are of one moment: the points of each report. */
export function bySource(points: readonly Point[]): OfSource[] {
	const sources = [...new Set(points.map(({ source }) => source))];
	return sources.map((source) => ({
		source,
		points: points.filter((point) => point.source === source),
		folder: sources.length === 1 ? "" : `${fileName(source.result.runId)}/`,
	}));
}

/** What every file system takes, and a shell without quotes. */
export function fileName(text: string): string {
	return text.replaceAll(/[^A-Za-z0-9._-]+/g, "-").replaceAll(/^[-.]+|[-.]+$/g, "");
}
