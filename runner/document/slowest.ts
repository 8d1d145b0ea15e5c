import type { Run } from "../model/result.ts";
import { behindText, hiddenText } from "../result/omission.ts";
import { amount, type Column, cellsOf } from "../result/show.ts";
import { type Block, type Depth, fold, heading, numbers, table, text } from "./blocks.ts";

/** What counting from the actual send would have hidden. */
export function omission(run: Run): Block[] {
	const texts = [hiddenText(run), behindText(run)].filter((said) => said !== null);
	if (texts.length === 0) return [];
	return [heading("What a closed loop would have hidden", 3), ...texts.map((said) => text(said))];
}

/** The slowest messages of a run, each split into what it waited for: a page shows all, Markdown some. Of many runs (not `full`) three each. */
export function slowest(run: Run, depth: Depth, full: boolean): Block[] {
	if (run.slowest.length === 0) return [];
	const title = `The slowest ${run.slowest.length === 1 ? "message" : "messages"}, and what they waited for`;
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
	const columns = numbers([...own.map(([name]) => name), ...PARTS]);
	const rows = run.slowest.slice(0, full ? undefined : FEW_OF_MANY).map((m, i) => ({
		depth: i < FEW ? undefined : (3 as const),
		cells: cellsOf([...own, ...parts], m),
	}));
	const means = text(
		full
			? "Due: seconds after the window opened. Response = queued (earlier sends blocked) + lag (the generator was late) + service (from the send call on)"
			: null,
		"small",
	);
	return [fold(title, [table(columns, rows), means], { depth })];
}

// --- internal ---

const PARTS = ["queued", "lag", "service"] as const;
/** Rows that Markdown has. */
const FEW = 5;
/** Rows that each of many runs has. */
const FEW_OF_MANY = 3;

type Slow = Run["slowest"][number];
