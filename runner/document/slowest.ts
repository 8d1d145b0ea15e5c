import type { Run } from "../model/result.ts";
import { behindText, hiddenText } from "../result/omission.ts";
import { percentile } from "../result/select.ts";
import { amount, type Column, cellsOf, show } from "../result/show.ts";
import { tell } from "../text/tell.ts";
import { formatDuration, formatTimes } from "../units.ts";
import {
	details,
	heading,
	numbers,
	paragraph,
	sentences,
	shares,
	table,
	wordTable,
} from "./make.ts";
import { type Block, type Medium, PAGE } from "./old-blocks.ts";

/** What counting from the actual send would have hidden: a sentence, and `folded` a table. */
export function omission(run: Run, folded: boolean): Block[] {
	const texts = [hiddenText(run), behindText(run)].filter((t) => t !== null);
	if (texts.length === 0 || run.omission === null) return [];
	const rows = run.omission.percentiles.filter((x) => x.factor !== null);
	const known = rows.map((x) => [
		`p${x.p}`,
		...(["response", "service"] as const).map((metric) => show(percentile(run, metric, x.p))),
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

/** The slowest messages of a run, each split into what it waited for: a page shows all, Markdown some. Of many runs (not `full`) three each. */
export function slowest(run: Run, media: readonly Medium[], full: boolean): Block[] {
	const [first] = run.slowest;
	if (first === undefined) return [];
	const title = tell("title-slowest", {
		messages: run.slowest.length === 1 ? "message" : "messages",
	});
	const own: Column<Slow>[] = [
		["due", ({ intendedNs }) => `${((intendedNs - run.load.warmupNs) / 1e9).toFixed(3)}s`],
		["producer", ({ producer }) => `${producer}`],
		["sequence", ({ sequence }) => `${sequence}`],
	];
	if (run.load.topics > 1) own.push(["topic", ({ topic }) => `${topic}`]);
	if (run.slowest.some(({ partition }) => partition !== null))
		own.push(["partition", ({ partition }) => `${partition ?? "n/a"}`]);
	own.push(["response", ({ responseNs }) => amount(responseNs, "ns")]);
	const parts = PARTS.map((part): Column<Slow> => [part, (m) => amount(m[`${part}Ns`], "ns")]);
	const columns = [
		...numbers(own.map(([name]) => name)),
		...PARTS.map((name) => ({ name, number: true, mark: `${name}-part` })),
		{ name: "parts", media: PAGE },
	];
	const share = (ns: number) => (first.responseNs > 0 ? ns / first.responseNs : 0);
	const rows = run.slowest.slice(0, full ? undefined : FEW_OF_MANY).map((m, i) => ({
		media: i < FEW ? undefined : PAGE,
		cells: [
			...cellsOf([...own, ...parts], m),
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
/** Rows that each of many runs has. */
const FEW_OF_MANY = 3;

type Slow = Run["slowest"][number];
