import type { Run } from "../model/result.ts";
import { type Count, countLabel, countsOf, isBad } from "../result/fields.ts";
import { amount, show } from "../result/show.ts";
import { isClosed } from "../result/words.ts";
import { formatCount, formatDuration, formatDurationExact, plural } from "../units.ts";
import { orderUnit } from "../verdict/tally.ts";
import { type Block, heading, type Inline, numbers, table, text } from "./blocks.ts";

/** What became of the messages of the window, and at which rates. */
export function counts(run: Run): Block[] {
	const names = countsOf(run);
	const published = run.load.pattern === "publish";
	const { sent, received, achieved } = run.throughput;
	const rates: (readonly [string, number | null])[] = [
		isClosed(run) ? ["sent rate", sent] : ["achieved rate", achieved],
		...(published ? [] : [[countLabel(run, "received rate"), received] as const]),
	];
	const cell = (count: Count): Inline => {
		const of = amount(run[count], "messages");
		return isBad(count) && (run[count] ?? 0) > 0 ? { as: "alert", text: show(of) } : of;
	};
	const warmup = names
		.filter((count) => run.warmup[count] !== null)
		.map((count) => `${countLabel(run, count)} ${formatCount(run.warmup[count] ?? 0)}`);
	return [
		heading("Messages of the window", 3),
		table(
			[
				...names.flatMap((count) =>
					numbers([countLabel(run, count)], run[count] === null ? 2 : undefined),
				),
				...rates.flatMap(([name]) => numbers([name], 3)),
			],
			[[...names.map(cell), ...rates.map(([, value]) => amount(value, "messages/s"))]],
			{ look: "row" },
		),
		...[...notes(run), ...howRates(run)].map((note) => text(note, "small")),
		text(`Warm-up: ${warmup.join(", ")}`, "small", 3),
	];
}

// --- internal ---

/** What the counts are of, where that is not plain: copies, order by key. */
function notes({ load, reordered, timedOut, requests, throttledNs, reconnects }: Run) {
	return [
		load.pattern === "fan-out"
			? `received and lost count copies: ${plural(load.subscriptions, "subscriber")} ${load.subscriptions === 1 ? "has" : "have"} one of each message`
			: null,
		load.pattern === "request-reply" ? "received counts replies" : null,
		reordered !== null && orderUnit(load) !== "by producer"
			? `reordered counts ${orderUnit(load)}`
			: null,
		timedOut
			? `a message that timed out kept its place in flight for ${formatDurationExact(load.timeoutNs)}, then the next one was sent`
			: null,
		requests
			? `${plural(requests.count, "request")} of the whole run, which the service would bill with about ${requests.usd.toPrecision(3)} USD`
			: null,
		throttledNs ? `throttled by the broker for ${formatDuration(throttledNs)}` : null,
		reconnects ? plural(reconnects, "reconnect") : null,
	];
}

/** How an acknowledged and a received message per second were reckoned, where a load has no rate. */
function howRates(run: Run): string[] {
	const { sent, received, sentHow, receivedHow } = run.throughput;
	const lines = [
		["sent", sent, sentHow],
		[countLabel(run, "received"), received, receivedHow],
	] as const;
	return lines.flatMap(([name, value, how]) =>
		isClosed(run) && value !== null ? [`${name} ${formatCount(value)}/s: ${how}`] : [],
	);
}
