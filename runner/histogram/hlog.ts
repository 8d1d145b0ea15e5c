/** Reads `.hlog` files (HdrHistogram log, V2). Values are ns, start and length seconds since T0. */
export interface LogLine {
	/** "response", or "response.warmup". */
	readonly tag: string;
	/** Start of the interval of intended time, seconds since T0. */
	readonly startS: number;
	readonly lengthS: number;
	/** The histogram as it stands in the file; `decodeBuckets` makes it. */
	readonly encoded: string;
}

/**
 * The interval lines of `text`. Comments, the legend and blank lines are skipped. A line that is none of these is
 * an error, but for the last one of a file without a line end: k6 died while it wrote that.
 */
export function readLog(text: string): LogLine[] {
	const lines = text.split("\n");
	// With a line end at the end of the file this is the empty text after it.
	lines.pop();
	return lines
		.map((line, i) => interval(line, i + 1))
		.filter((line) => line !== null);
}

// --- internal ---

const LINE = /^(?:Tag=([^,\s]+),)?([\d.eE+-]+),([\d.eE+-]+),[^,]*,(\S+)$/;

function interval(raw: string, number: number): LogLine | null {
	const line = raw.trimEnd();
	if (line === "" || line.startsWith("#") || line.startsWith('"')) return null;
	const [, tag = "", start, length, encoded] = LINE.exec(line) ?? [];
	if (encoded === undefined)
		throw new Error(`line ${number} is no interval of a histogram log`);
	return { tag, startS: Number(start), lengthS: Number(length), encoded };
}
