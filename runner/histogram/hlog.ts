import { decodeFromCompressedBase64, type JsHistogram } from "hdr-histogram-js";

/**
 * Reads `.hlog` files (HdrHistogram log, V2). Values are ns, start and length seconds since T0.
 *
 * hdr-histogram-js: buckets of 64 bits, as those of 32 wrap silently above 2^31; it finds zlib by
 * `eval('require("zlib")')`, which works since Node loads it as CommonJS, and falls back to the slow pako in
 * a bundle. It writes files with a wrong header: never write .hlog with it.
 */
export interface LogLine {
	/** "response", or "response.warmup". */
	readonly tag: string;
	/** Start of the interval of intended time, seconds since T0. */
	readonly startS: number;
	readonly lengthS: number;
	/** The histogram as it stands in the file; `decode` makes it. 1000 of them at once would take 270 MB. */
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

/** The histogram of a line, 64 bits a bucket. */
export function decode(line: Pick<LogLine, "encoded">): JsHistogram {
	return decodeFromCompressedBase64(line.encoded, 64) as JsHistogram;
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
