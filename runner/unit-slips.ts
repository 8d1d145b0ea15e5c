/** Corrects "10 sec" to 10s, "1kb" to 1KB and "3000rps" to 3000/s; undefined if the meaning is unclear. */
export const SLIPS: Readonly<
	Record<"duration" | "size" | "rate", (text: string) => string | undefined>
> = { duration, size, rate };

// --- internal ---

const DURATION: ReadonlyMap<string, string> = new Map(
	Object.entries({
		ns: "ns nanos nanosecond nanoseconds",
		us: "us usec micros microsecond microseconds",
		ms: "ms msec msecs millis millisecond milliseconds",
		s: "s sec secs second seconds",
		min: "min mins minute minutes m",
		h: "h hr hrs hour hours",
	}).flatMap(([unit, names]) => names.split(" ").map((name): [string, string] => [name, unit])),
);

/** "10 sec", "5 Minutes". */
function duration(text: string): string | undefined {
	const [, number, word = ""] = /^(\d+(?:\.\d+)?)\s*([a-z]+)$/i.exec(together(text)) ?? [];
	const unit = DURATION.get(word.toLowerCase());
	return unit && `${number}${unit}`;
}

/** "1kb", "256 bytes", "2 mib". */
function size(text: string): string | undefined {
	const [all, number, times = "", binary = ""] =
		/^(\d+(?:\.\d+)?)\s*([kmg]?)(i?)b(?:ytes?)?$/i.exec(together(text)) ?? [];
	return all && `${number}${times.toUpperCase()}${binary.toLowerCase()}B`;
}

/** "3000rps", "3k/s", "3,000 messages per second", "90/minute". */
function rate(text: string): string | undefined {
	const [, number, times = "", word = "s"] =
		/^(\d+(?:\.\d+)?)\s*(k|M)?\s*(?:(?:messages?|msgs?|req(?:uest)?s?|events?|ops)?\s*(?:\/|per )\s*([a-z]+)|[rqmt]ps|hz)$/i.exec(
			together(text),
		) ?? [];
	const unit = DURATION.get(word.toLowerCase());
	if (!number || !unit || !["s", "min", "h"].includes(unit)) return undefined;
	return `${Number(number) * ({ k: 1000, m: 1e6 }[times.toLowerCase()] ?? 1)}/${unit}`;
}

/** Removes thousands separators: "3,000" and "3 000" are 3000. */
function together(text: string): string {
	return text.trim().replaceAll(/(?<=\d)[ ,_](?=\d{3}(?!\d))/g, "");
}
