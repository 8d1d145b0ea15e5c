import { chunks, type LogFile } from "./log-file.ts";

/** Reads `.hlog` files (HdrHistogram log, V2). Values are ns, the start is in seconds since T0. */
export interface LogLine {
	/** "response", or "response.warmup". */
	readonly tag: string;
	/** Start of the interval of intended time, seconds since T0. */
	readonly startS: number;
	/** The histogram as it stands in the file; `decodeBuckets` makes it. */
	readonly encoded: string;
}

/** The interval lines of files, one after the other, read anew and piece by piece each time they are gone through. */
export function readLogs(files: readonly LogFile[]): Iterable<LogLine> {
	return {
		*[Symbol.iterator]() {
			for (const file of files) yield* intervals(chunks(file));
		},
	};
}

/**
 * The interval lines of a text in pieces. Comments, the legend and blank lines are skipped. A line that is none of these is an error, but for
 * the last one of a file without a line end: k6 died while it wrote that.
 */
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

const LINE = /^(?:Tag=([^,\s]+),)?([\d.eE+-]+),[\d.eE+-]+,[^,]*,(\S+)$/;

function interval(raw: string, number: number): LogLine | null {
	const line = raw.trimEnd();
	if (line === "" || line.startsWith("#") || line.startsWith('"')) return null;
	const [, tag = "", start, encoded] = LINE.exec(line) ?? [];
	if (encoded === undefined)
		throw new Error(`line ${number} is not an interval of a histogram log`);
	return { tag, startS: Number(start), encoded };
}
