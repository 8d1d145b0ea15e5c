import type { Run } from "../model/result.ts";
import {
	countNotes,
	countsOf,
	countText,
	ofCopies,
	perSecondText,
	rateTexts,
} from "../result/words.ts";
import { tell } from "../text/tell.ts";
import { type Block, FILES, PAGE } from "./blocks.ts";
import { heading, sentences } from "./make.ts";

/** What became of the messages of the window, and at which rates. */
export function counts(run: Run): Block[] {
	const warmup = countsOf(run, run.warmup)
		.filter(([, n]) => n !== null)
		.map(([name, n]) => `${name} ${countText(n)}`);
	return [
		heading("Messages of the window", { media: PAGE }),
		{
			kind: "counts",
			items: [
				...countsOf(run).map(([name, n]) => ({
					name,
					text: countText(n),
					alert: BAD.has(name) && n !== null && n > 0,
					media: n === null ? FILES : undefined,
				})),
				...ratesOf(run).map(([name, n]) => ({
					name,
					text: perSecondText(n),
					alert: false,
					media: PAGE,
				})),
			],
		},
		sentences([...countNotes(run), ...rateTexts(run)], "small"),
		sentences(
			[
				`Warm-up: ${warmup.join(", ")}`,
				run.acked === null && run.load.pattern !== "publish" ? tell("lost-of-sent") : null,
			],
			"small",
			PAGE,
		),
	];
}

// --- internal ---

const BAD: ReadonlySet<string> = new Set([
	"lost",
	"copies lost",
	"failed",
	"unknown",
	"duplicated",
	"reordered",
	"redelivered",
	"corrupted",
	"not offered",
	"late",
	"timed out",
]);

/** Those that a load of this kind has. */
function ratesOf(run: Run): [string, number | null][] {
	const { sent, received, achieved } = run.throughput;
	const all: [string, number | null][] =
		run.load.schedule.kind === "closed" ? [["sent rate", sent]] : [["achieved rate", achieved]];
	return run.load.pattern === "publish"
		? all
		: [...all, [ofCopies(run, "received rate"), received]];
}
