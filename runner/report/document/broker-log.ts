import type { Run } from "../../model/result.ts";
import { sum } from "../../stats/sum.ts";
import { tell } from "../../text/tell.ts";
import { formatCount } from "../../units.ts";
import type { Block, Medium } from "./blocks.ts";
import { code, details, numbers, paragraph, table } from "./make.ts";

/** What the broker logged while it was measured: a page shows it, Markdown some of it. Of many runs (not `full`) what is serious. */
export function brokerLog(
	{ brokerLog: log, window }: Run,
	media: readonly Medium[],
	full: boolean,
): Block[] {
	if (log === undefined) return [];
	const lines = full ? log.lines : log.lines.filter(({ serious }) => serious);
	if (lines.length === 0) return [];
	const few = new Set(
		lines
			.toSorted((a, b) => Number(b.serious) - Number(a.serious))
			.slice(0, FEW),
	);
	const shown = full ? lines : lines.slice(0, FEW);
	const more =
		log.more +
		sum(log.lines.map(({ times }) => times)) -
		sum(shown.map(({ times }) => times));
	const rows = shown.map((line) => ({
		media: few.has(line) ? undefined : (["page"] as const),
		cells: [
			`${((line.atNs - window.startNs) / 1e9).toFixed(3)}s`,
			`${line.node}`,
			formatCount(line.times),
			code(line.text),
		],
	}));
	return [
		details(
			tell("title-broker-log"),
			[
				table([...numbers(["at", "node", "times"]), { name: "line" }], rows),
				paragraph(
					more === 0
						? tell("broker-log-means")
						: `${tell("broker-log-means")} ${tell("broker-log-more", { more })}`,
					"small",
				),
			],
			media,
		),
	];
}

// --- internal ---

/** Lines that Markdown has, and each of many runs. */
const FEW = 5;
