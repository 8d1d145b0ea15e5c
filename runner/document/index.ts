import { dateText } from "../chart/units.ts";
import { machinesOf } from "../compare/machine.ts";
import { type Trend, trendsOf } from "../figures/trends.ts";
import { commitsOf, commitText } from "../result/commit.ts";
import { systemTexts } from "../result/headline.ts";
import type { Entry } from "../result/indexed.ts";
import { verdictWord } from "../result/words.ts";
import { plural } from "../units.ts";
import * as doc from "./blocks.ts";

/** All runs of a folder, newest first, and trends. Links are relative, so the folder can be published as it is. */
export function indexDocument(entries: readonly Entry[]): doc.Document {
	const trends = trendsOf(entries);
	const newest = entries.flatMap(({ at }) => at ?? [])[0];
	const machines = machinesOf(entries);
	const kinds = [...new Map([...machines.values()].map((kind) => [kind.letter, kind])).values()];
	return {
		...doc.NOTHING,
		title: plural(entries.length, "result"),
		look: "unknown",
		word: "",
		lead: newest === undefined ? "" : `The newest is from ${dateText(newest)}`,
		sections: [
			doc.section("results", "Newest first", [
				results(entries, machines),
				doc.text(
					"The figure of a run is p99 of response; for a closed loop it is the messages per second. Several cases or repeats show the lowest and the highest; nothing is averaged.",
					"soft",
				),
			]),
			overTime(trends),
			doc.section("machines", "Machines", [
				doc.facts(kinds.map(({ letter, text: known }) => [letter, known])),
				doc.text(MACHINES_MEAN, "soft"),
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

function results(entries: readonly Entry[], machines: ReturnType<typeof machinesOf>): doc.Table {
	const rows = entries.map((entry): doc.Inline[] => {
		const { folder, at, result, problem } = entry;
		const word = result === null ? "NO RESULT" : verdictWord(result);
		const machine = machines.get(folder);
		// In the scenario's repository; several if several commands made the result.
		const commits = commitsOf(result?.environment ?? null).map(commitText);
		const systems = result === null ? [] : systemTexts(result);
		return [
			nameOf(entry),
			doc.badge(result?.verdict ?? "unknown", word),
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
	const columns = "Scenario and folder|Verdict|Started|Systems and their figures|Machine|Commit";
	return doc.table(columns.split("|"), rows, { id: "results" });
}

/** Without a result the scenario is unknown, so the row names only the folder. */
function nameOf({ result, folder, href }: Entry): doc.Inline {
	if (result === null) return [doc.aside(folder), href === null ? "" : doc.link(" report", href)];
	const { scenario } = result;
	return [href === null ? scenario : doc.link(scenario, href), doc.aside(folder)];
}

function overTime(trends: readonly Trend[]): doc.Fold {
	const scenarios = [...new Set(trends.map(({ scenario }) => scenario))];
	return doc.section("over-time", "Over time", [
		doc.text(trends.length === 0 ? NO_TREND : TRENDS_MEAN, "soft"),
		...scenarios.map((scenario) => {
			const ids = trends.filter((one) => one.scenario === scenario).map(({ figure }) => figure.id);
			return doc.fold(scenario, [{ kind: "figures", ids, depth: 3 }], { open: 1 });
		}),
	]);
}
