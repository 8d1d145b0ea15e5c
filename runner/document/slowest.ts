import type { Run } from "../model/result.ts";
import { behindText, hiddenText } from "../result/omission.ts";
import { amount, type Column } from "../result/show.ts";
import { type Block, type Depth, fold, heading, tableOf, text } from "./blocks.ts";

/** What counting from the actual send would have hidden. */
export function omission(run: Run): Block[] {
	const texts = [hiddenText(run), behindText(run)].filter((said) => said !== null);
	if (texts.length === 0) return [];
	return [heading("What a closed loop would have hidden", 3), ...texts.map((said) => text(said))];
}

/** The slowest messages of a run, each split into what it waited for. */
export function slowest({ slowest: all, load }: Run, depth: Depth): Block[] {
	if (all.length === 0) return [];
	const title = `The slowest ${all.length === 1 ? "message" : "messages"}, and what they waited for`;
	const columns: Column<Run["slowest"][number]>[] = [
		["due", ({ intendedNs }) => `${((intendedNs - load.warmupNs) / 1e9).toFixed(3)}s`],
		["producer", ({ producer }) => `${producer}`],
		["sequence", ({ sequence }) => `${sequence}`],
		["topic", ({ topic }) => `${topic}`],
		...(all.some(({ partition }) => partition !== null)
			? [["partition", (m: (typeof all)[number]) => `${m.partition ?? "n/a"}`] as const]
			: []),
		["response", ({ responseNs }) => amount(responseNs, "ns")],
		["queued", ({ queuedNs }) => amount(queuedNs, "ns")],
		["lag", ({ lagNs }) => amount(lagNs, "ns")],
		["service", ({ serviceNs }) => amount(serviceNs, "ns")],
	];
	const means =
		"Due: seconds after the window opened. Response = queued (earlier sends blocked) + lag (the generator was late) + service (from the send call on)";
	return [fold(title, [tableOf(all.slice(0, MOST), columns, 0), text(means, "small")], { depth })];
}

// --- internal ---

const MOST = 5;
