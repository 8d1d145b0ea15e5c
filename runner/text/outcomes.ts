import { formatCount as count, formatDuration as duration, formatTimes } from "../units.ts";

/** What broke, by how much, and when. */
export const outcomes = {
	"nothing-judged": () => "no SLA: nothing was judged",
	"on-saturated-machine": (d: { text: string }) =>
		`${d.text}, and no core was free meanwhile: the machine is the cause, or a part of it`,
	"where-none-may": (d: Broken) => `${d.measured} ${d.subject}${repeatText(d)}, where none may be`,
	breached: (d: Broken & { sla: string }) => `${brokenText(d)} (${d.sla})${lateText(d)}`,
	"breached-by": (d: Broken & By) => `${brokenText(d)}: ${byText(d)}${lateText(d)}`,
	"breached-beyond": (d: Broken & { factor: number; limit: string }) =>
		`${brokenText(d)}: more than ${formatTimes(d.factor)} the limit of ${d.limit}, as messages never completed${lateText(d)}`,
	"breached-unended": (d: Broken & { factor: number; limit: string }) =>
		`${brokenText(d)}: ${d.factor > 1 ? `more than ${formatTimes(d.factor)}` : "beyond"} the limit of ${d.limit}, as it had not ended by then`,
	"first-offender": (d: {
		kind: string;
		producer: number;
		sequence: number;
		/** A closed load has sent it, and nothing was due. */
		due: boolean;
		/** "2s after the window opened"; null: not known. */
		when: string | null;
	}) =>
		`first ${d.kind}: producer ${d.producer}, sequence ${d.sequence}${d.when === null ? "" : `, ${d.due ? "due" : "sent"} ${d.when}`}`,
	"by-fault": (d: { fault: string; atNs: number }) =>
		`by the ${d.fault}, ${duration(Math.max(0, d.atNs))} after the window opened`,
	"worst-second": (d: {
		kind: "worst" | "fewest";
		/** "repeat 2 of 3, "; of one run empty. */
		where: string;
		/** From the opening of the window. */
		second: number;
		/** Of a long run what it is told of is longer than one. */
		seconds: number;
		figures: readonly string[];
	}) =>
		`${d.kind} in ${d.where}the ${d.seconds === 1 ? "second" : `${d.seconds} seconds`} that began ${d.second === 0 ? "as the window opened" : `${Number(d.second.toFixed(3))}s after the window opened`}: ${d.figures.join(", ")}`,
};

// --- internal ---

interface Broken {
	/** "p99", "lost" */
	readonly subject: string;
	readonly measured: string;
	/** The worst of several; null: the only one. */
	readonly repeat: number | null;
	/** Messages judged, over the limit, and that may be; null: it is no latency. */
	readonly n: number | null;
	readonly over: number | null;
	readonly allowed: number | null;
}

interface By {
	readonly value: number;
	readonly limitValue: number;
	readonly unit: "ns" | "messages" | "messages/s";
	readonly limit: string;
}

function repeatText({ repeat }: Broken): string {
	return repeat === null ? "" : ` in repeat ${repeat}, the worst`;
}

function brokenText(d: Broken): string {
	return `${d.subject} is ${d.measured}${repeatText(d)}`;
}

/** What is counted in messages says more of a latency than its value alone. */
function lateText({ n, over, allowed }: Broken): string {
	return n === null || over === null || allowed === null
		? ""
		: `; ${count(over)} of ${count(n)} messages took longer, at most ${count(Math.floor(allowed))} may`;
}

/** "40x the limit of 10ms, 390ms above it" */
function byText({ value, limitValue, unit, limit }: By): string {
	const format = unit === "ns" ? duration : count;
	if (unit === "messages/s")
		return `${count(limitValue - value)}/s (${percentText(1 - value / limitValue)}) below the ${limit} that it has to reach`;
	// The counts have decided; the value is as near as the histogram's digits go.
	if (value <= limitValue) return `at the limit of ${limit}`;
	const factor = value / limitValue;
	const above = format(value - limitValue);
	return factor >= 1.5
		? `${formatTimes(factor)} the limit of ${limit}, ${above} above it`
		: `${percentText(factor - 1)} above the limit of ${limit} (by ${above})`;
}

function percentText(part: number): string {
	const value = part * 100;
	return `${value < 0.1 ? "less than 0.1" : Number(value.toPrecision(2))} %`;
}
