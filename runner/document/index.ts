import { dateText } from "../chart/units.ts";
import { machinesOf } from "../compare/machine.ts";
import { type Trend, trendsOf } from "../figures/trends.ts";
import { commitsOf, commitText } from "../result/commit.ts";
import { systemTexts } from "../result/headline.ts";
import type { Entry } from "../result/indexed.ts";
import { verdictWord } from "../result/words.ts";
import { plural } from "../units.ts";
import {
	aside,
	badge,
	type Document,
	type Fold,
	facts,
	fold,
	type Inline,
	link,
	NOTHING,
	section,
	type Table,
	table,
	text,
} from "./blocks.ts";

/** All runs of a folder, newest first, and trends. Links are relative, so the folder can be published as it is. */
export function indexDocument(entries: readonly Entry[]): Document {
	const trends = trendsOf(entries);
	const newest = entries.flatMap(({ at }) => at ?? [])[0];
	const machines = machinesOf(entries);
	const kinds = [...new Map([...machines.values()].map((kind) => [kind.letter, kind])).values()];
	return {
		...NOTHING,
		title: plural(entries.length, "result"),
		look: "unknown",
		word: "",
		lead: newest === undefined ? "" : `The newest is from ${dateText(newest)}`,
		sections: [
			section("results", "Newest first", [
				results(entries, machines),
				text(
					"The figure of a run is p99 of response; for a closed loop it is the messages per second. Several cases or repeats show the lowest and the highest; nothing is averaged.",
					"soft",
				),
			]),
			overTime(trends),
			section("machines", "Machines", [
				facts(kinds.map(({ letter, text: known }) => [letter, known])),
				text(MACHINES_MEAN, "soft"),
			]),
		],
		figures: () => trends.map(({ figure }) => figure),
	};
}

// --- internal ---

const NO_TREND = "No trend yet: it needs two results of one scenario and case.";
const TRENDS_MEAN =
	"Each run is a point. A line joins runs of one system with the same work, durability and kind of machine; its name shows what differs from other lines. Click a point to open its report.";
const MACHINES_MEAN =
	"One letter is one kind of machine: equal CPU, cores, memory, system, kernel series and core limit.";

const UNKNOWN = "not known";

function results(entries: readonly Entry[], machines: ReturnType<typeof machinesOf>): Table {
	const rows = entries.map((entry): Inline[] => {
		const { folder, at, result, problem } = entry;
		const word = result === null ? "NO RESULT" : verdictWord(result);
		const machine = machines.get(folder);
		// In the scenario's repository; several if several commands made the result.
		const commits = commitsOf(result?.environment ?? null).map(commitText);
		const systems = result === null ? [] : systemTexts(result);
		return [
			nameOf(entry),
			badge(result?.verdict ?? "unknown", word),
			at === null ? UNKNOWN : dateText(at),
			result === null
				? `${problem}.`
				: systems.flatMap(({ system, text }) => [
						{ as: "strong", text: system } as const,
						` ${text} `,
					]),
			machine === undefined ? UNKNOWN : `machine ${machine.letter}`,
			commits.length === 0 ? UNKNOWN : commits.join("; "),
		];
	});
	const columns = [
		"Scenario and folder",
		"Verdict",
		"Started",
		"Systems and their figures",
		"Machine",
		"Commit",
	];
	return table(columns, rows, { id: "results" });
}

/** Without a result the scenario is unknown, so the row names only the folder. */
function nameOf({ result, folder, href }: Entry): Inline {
	if (result === null) return [aside(folder), href === null ? "" : link(" report", href)];
	const { scenario } = result;
	return [href === null ? scenario : link(scenario, href), aside(folder)];
}

function overTime(trends: readonly Trend[]): Fold {
	const scenarios = [...new Set(trends.map(({ scenario }) => scenario))];
	return section("over-time", "Over time", [
		text(trends.length === 0 ? NO_TREND : TRENDS_MEAN, "soft"),
		...scenarios.map((scenario) => {
			const ids = trends.filter((one) => one.scenario === scenario).map(({ figure }) => figure.id);
			return fold(scenario, [{ kind: "figures", ids, depth: 3 }], { open: 1 });
		}),
	]);
}
