import { chunks, type LogFile } from "./log-file.ts";

/** A line of an `.hlog` file (HdrHistogram log, V2). Its values are ns. */
export interface LogLine {
	/** "response", or "response.warmup". */
	readonly tag: string;
	/** Start of the interval of intended time, seconds since T0. */
	readonly startS: number;
	/** Exact, unlike the histogram's. */
	readonly maxNs: number;
	readonly encoded: string;
}

/** Reads the files again, piece by piece, on each iteration. `only`: lines with this tag. */
export function readLogs(files: readonly LogFile[], only?: string): Iterable<LogLine> {
	return {
		*[Symbol.iterator]() {
			for (const file of files) {
				// Start times are rounded to the millisecond, either way.
				const { fromNs, untilNs } = file.span ?? { fromNs: -Infinity, untilNs: Infinity };
				for (const line of intervals(chunks(file))) {
					const ns = (line.startS + 0.001) * 1e9;
					const wanted = only === undefined || line.tag === only;
					if (wanted && ns >= fromNs && ns < untilNs) yield line;
				}
			}
		},
	};
}

/** Skips comments, the legend, blank lines and a last line without an end, during which k6 died. Any other line is an error. */
export function* intervals(pieces: Iterable<Buffer>): Generator<LogLine> {
	let number = 0;
	let rest = "";
	for (const piece of pieces) {
		// The format is ASCII: a piece may end anywhere.
		const lines = (rest + piece.toString("latin1")).split("\n");
		rest = lines.pop() ?? "";
		for (const line of lines) {
			const parsed = interval(line, ++number);
			if (parsed !== null) yield parsed;
		}
	}
}

// --- internal ---

const LINE = /^(?:Tag=([^,\s]+),)?([\d.eE+-]+),[\d.eE+-]+,([^,]*),(\S+)$/;

function interval(raw: string, number: number): LogLine | null {
	const line = raw.trimEnd();
	if (line === "" || line.startsWith("#") || line.startsWith('"')) return null;
	const [, tag = "", start, maxMs, encoded] = LINE.exec(line) ?? [];
	if (encoded === undefined)
		throw new Error(`line ${number} is not an interval of a histogram log`);
	return { tag, startS: Number(start), maxNs: Math.round(Number(maxMs) * 1e6), encoded };
}
