import type { Run } from "../model/result.ts";
import { sumText } from "../result/breakdown.ts";
import { behindText, hiddenText } from "../result/omission.ts";
import { percentileName, weakMark } from "../result/words.ts";
import { tell } from "../text/tell.ts";
import { formatDuration, formatTimes } from "../units.ts";
import { type Block, type Medium, PAGE } from "./blocks.ts";
import {
	details,
	heading,
	list,
	numbers,
	paragraph,
	sentences,
	shares,
	table,
	wordTable,
} from "./make.ts";

/** What counting from the actual send would have hidden: a sentence, and `folded` a table. */
export function omission(run: Run, folded: boolean): Block[] {
	const texts = [hiddenText(run), behindText(run)].filter((t) => t !== null);
	if (texts.length === 0 || run.omission === null) return [];
	const rows = run.omission.percentiles.filter((x) => x.factor !== null);
	const known = rows.map((x) => [
		percentileName(x.p),
		...(["response", "service"] as const).map(
			(metric) => `${weakMark(run, metric, x.p)}${formatDuration(x[metric] ?? 0)}`,
		),
		formatDuration(x.difference ?? 0),
		formatTimes(x.factor ?? 0),
	]);
	const head = ["percentile", "response", "service", "difference", "factor"];
	const table = wordTable(head, known);
	return [
		heading(tell("title-hidden"), { media: PAGE }),
		sentences(texts),
		...(folded ? [details(tell("title-response-service"), [table], PAGE)] : []),
	];
}

/** The slowest messages of a run, each split into what it waited for: a page shows all, Markdown some. Of many runs (not `full`) three lines each. */
export function slowest(run: Run, media: readonly Medium[], full: boolean): Block[] {
	const [first] = run.slowest;
	if (first === undefined) return [];
	const title = tell("title-slowest", {
		messages: run.slowest.length === 1 ? "message" : "messages",
	});
	if (!full) {
		const lines = run.slowest.slice(0, LINES).map((m) => lineOf(m, run));
		return [details(title, [list(lines)], media)];
	}
	const partition = run.slowest.some((m) => m.partition !== null);
	const topics = run.load.topics > 1;
	const head = [
		"due",
		"producer",
		"sequence",
		...(topics ? ["topic"] : []),
		...(partition ? ["partition"] : []),
		"response",
	];
	const columns = [
		...numbers(head),
		...PARTS.map((name) => ({ name, number: true, mark: `${name}-part` })),
		{ name: "parts", media: PAGE },
	];
	const share = (ns: number) => (first.responseNs > 0 ? ns / first.responseNs : 0);
	const rows = run.slowest.map((m, i) => ({
		media: i < FEW ? undefined : PAGE,
		cells: [
			dueText(m, run),
			`${m.producer}`,
			`${m.sequence}`,
			...(topics ? [`${m.topic}`] : []),
			...(partition ? [`${m.partition ?? "n/a"}`] : []),
			formatDuration(m.responseNs),
			...PARTS.map((part) => formatDuration(m[`${part}Ns`])),
			shares(PARTS.map((part) => [part, share(m[`${part}Ns`])])),
		],
	}));
	return [
		details(
			title,
			[table(columns, rows, { look: "slow" }), paragraph(tell("slowest-means"), "small")],
			media,
		),
	];
}

// --- internal ---

const PARTS = ["queued", "lag", "service"] as const;
/** Rows that Markdown has. */
const FEW = 5;
/** Messages that each of many runs has. */
const LINES = 3;

type Slow = Run["slowest"][number];

/** "12.8ms = queued 0s + lag 1.63ms + service 11.17ms; due at 29.198s, producer 0, sequence 102595" */
function lineOf(m: Slow, run: Run): string {
	const where = [
		`producer ${m.producer}, sequence ${m.sequence}`,
		...(run.load.topics > 1 ? [`topic ${m.topic}`] : []),
		...(m.partition === null ? [] : [`partition ${m.partition}`]),
	];
	return `${formatDuration(m.responseNs)} = ${sumText(m.responseNs, m)}; due at ${dueText(m, run)}, ${where.join(", ")}`;
}

/** From the window's start. */
function dueText({ intendedNs }: Slow, { load }: Run): string {
	return `${((intendedNs - load.warmupNs) / 1e9).toFixed(3)}s`;
}
