/** What people mean by a text that is not quite a duration, a size or a rate: "10 sec" is 10s, "1kb" 1KB, "3000rps" 3000/s. */

/** undefined: nobody can tell. */
export const SLIPS: Readonly<
	Record<"duration" | "size" | "rate", (text: string) => string | undefined>
> = { duration, size, rate };

/** "100k", "1,000,000", "25" in quotes: the number; undefined: it is none. */
export function plainCount(text: string): number | undefined {
	const [, number, times = ""] = /^(\d+(?:\.\d+)?)\s*([kKM]?)$/.exec(together(text)) ?? [];
	return number === undefined ? undefined : Number(number) * factor(times);
}

// --- internal ---

/** A unit by its other names, in small letters. */
const DURATION: Readonly<Record<string, string>> = Object.fromEntries(
	Object.entries({
		ns: "ns nanos nanosecond nanoseconds",
		us: "us usec micros microsecond microseconds",
		ms: "ms msec msecs millis millisecond milliseconds",
		s: "s sec secs second seconds",
		min: "min mins minute minutes m",
		h: "h hr hrs hour hours",
		d: "d day days",
	}).flatMap(([unit, names]) => names.split(" ").map((name) => [name, unit])),
);

const SECONDS: Readonly<Record<string, number>> = {
	ns: 1e-9,
	us: 1e-6,
	ms: 1e-3,
	s: 1,
	min: 60,
	h: 3600,
	d: 86_400,
};

/** "10 sec", "1m30s", "2 days": in the smallest unit that it names. */
function duration(text: string): string | undefined {
	const pieces = [...together(text).matchAll(/([\d.]+)\s*([a-z]+)\s*/gi)];
	const units = pieces.map(([, , unit = ""]) => DURATION[unit.toLowerCase()]);
	if (pieces.map(([all]) => all).join("") !== together(text)) return undefined;
	const smallest = units.reduce(
		(a, b) => ((SECONDS[b ?? ""] ?? 0) < (SECONDS[a ?? ""] ?? 0) ? b : a),
		units[0],
	);
	const unit = smallest === "d" ? "h" : smallest;
	const total = pieces.reduce((sum, [, number], i) => {
		const times = (SECONDS[units[i] ?? ""] ?? NaN) / (SECONDS[unit ?? ""] ?? 1);
		return sum + Number(number) * Math.round(times);
	}, 0);
	return Number.isFinite(total) && unit !== undefined && pieces.length > 0
		? `${total}${unit}`
		: undefined;
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
	const unit = DURATION[word.toLowerCase()];
	if (!number || !unit || !["s", "min", "h"].includes(unit)) return undefined;
	return `${Number(number) * factor(times)}/${unit}`;
}

function factor(letter: string): number {
	return { k: 1000, m: 1_000_000 }[letter.toLowerCase()] ?? 1;
}

/** Without what separates thousands: "3,000" and "3 000" are 3000. */
function together(text: string): string {
	return text.trim().replaceAll(/(?<=\d)[ ,_](?=\d{3}(?!\d))/g, "");
}
