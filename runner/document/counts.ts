import type { Run } from "../model/result.ts";
import { countLabel, countsOf, isBad } from "../result/fields.ts";
import { amount, show } from "../result/show.ts";
import { isClosed } from "../result/words.ts";
import { say } from "../text/say.ts";
import { tell } from "../text/tell.ts";
import { formatCount, plural } from "../units.ts";
import { orderUnit } from "../verdict/tally.ts";
import { heading, sentences } from "./make.ts";
import { type Block, FILES, PAGE } from "./old-blocks.ts";

/** What became of the messages of the window, and at which rates. */
export function counts(run: Run): Block[] {
	const names = countsOf(run);
	const { sent, received, achieved } = run.throughput;
	const rates: [string, number | null][] = [
		isClosed(run) ? ["sent rate", sent] : ["achieved rate", achieved],
		[countLabel(run, "received rate"), received],
	];
	const warmup = names
		.filter((count) => run.warmup[count] !== null)
		.map((count) => `${countLabel(run, count)} ${formatCount(run.warmup[count] ?? 0)}`);
	const published = run.load.pattern === "publish";
	return [
		heading("Messages of the window", { media: PAGE }),
		{
			kind: "counts",
			items: [
				...names.map((count) => ({
					name: countLabel(run, count),
					text: show(amount(run[count], "messages")),
					alert: isBad(count) && (run[count] ?? 0) > 0,
					media: run[count] === null ? FILES : undefined,
				})),
				...rates.slice(0, published ? 1 : 2).map(([name, value]) => ({
					name,
					text: show(amount(value, "messages/s")),
					alert: false,
					media: PAGE,
				})),
			],
		},
		sentences([...notes(run), ...howRates(run)], "small"),
		sentences(
			[
				`Warm-up: ${warmup.join(", ")}`,
				run.acked === null && !published ? tell("lost-of-sent") : null,
			],
			"small",
			PAGE,
		),
	];
}

// --- internal ---

/** What the counts are of, where that is not plain: copies, order by key. */
function notes({ load, reordered, timedOut, requests, throttledNs, reconnects }: Run) {
	return [
		load.pattern === "fan-out"
			? tell("counts-copies", {
					subscribers: load.subscriptions,
					have: load.subscriptions === 1 ? "has" : "have",
				})
			: null,
		load.pattern === "request-reply" ? "received counts replies" : null,
		reordered !== null && orderUnit(load) !== "by producer"
			? `reordered counts ${orderUnit(load)}`
			: null,
		timedOut ? say("timed-out", { timeoutNs: load.timeoutNs }).text : null,
		requests
			? tell("requests-billed", {
					requests: plural(requests.count, "request"),
					usd: requests.usd.toPrecision(3),
				})
			: null,
		throttledNs ? say("throttled", { throttledNs }).text : null,
		reconnects ? plural(reconnects, "reconnect") : null,
	];
}

/** How an acknowledged and a received message per second were reckoned, where a load has no rate. */
function howRates(run: Run): string[] {
	const { sent, received, sentHow, receivedHow } = run.throughput;
	const lines: [string, number | null, string | null][] = [
		["sent", sent, sentHow],
		[countLabel(run, "received"), received, receivedHow],
	];
	return lines.flatMap(([name, value, how]) =>
		!isClosed(run) || value === null ? [] : [`${name} ${formatCount(value)}/s: ${how}`],
	);
}
