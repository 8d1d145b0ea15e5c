import type { Result, Run } from "../model/result.ts";
import { explain } from "../result/explain.ts";
import { brokenOf, type Outcome, outcomesOf } from "../result/outcomes.ts";
import { runTitle } from "../result/words.ts";
import * as doc from "./blocks.ts";

/** The reasons why the result did not pass, worst first. The same advice is given once. */
export function broken(whole: Result): doc.List {
	const all = brokenOf(whole);
	const more = all.length - MOST_BROKEN;
	const told = new Set<string>();
	const fresh = (text: string) => told.size < told.add(text).size;
	const items = all.slice(0, MOST_BROKEN).map((outcome): doc.Item => {
		const { broke, where, when, why, next } = explain(outcome, whole);
		// A reason that overruled a run holds for all of its lines.
		const reason =
			why === null || (why === outcome.run?.why && !fresh(`${where}: ${why}`)) ? [] : [why];
		const advice = next === null || !fresh(next) ? [] : [`What to do: ${next}`];
		return {
			badge: outcome.verdict,
			text: [linked(where, outcome, whole), lineOf(outcome, whole), `: ${broke}`],
			more: [...reason, ...(when === null ? [] : [when]), ...advice],
		};
	});
	const rest = `and ${more} more that did not pass: see the table, or report.html`;
	return { kind: "list", items, rest: more > 0 ? rest : null };
}

/** A line for each check that warned, with the run in which it found most. */
export function warnings(result: Result, depth: doc.Depth): doc.Block[] {
	const { runs } = result;
	const found = runs.flatMap((run) =>
		run.validity.flatMap((check) => (check.status === "warn" ? [{ ...check, run }] : [])),
	);
	const share = ({ values }: Run["validity"][number]) => Math.abs(Number(values?.share ?? 0));
	const texts = [...new Set(found.map(({ check }) => check))].map((check) => {
		const all = found.filter((one) => one.check === check);
		const { run, detail } = all.reduce((a, b) => (share(b) > share(a) ? b : a));
		return runs.length > 1
			? `${check} (${all.length} of ${runs.length} runs): ${runTitle(run, result)}: ${detail}`
			: `${check}: ${detail}`;
	});
	const head = texts.length === 1 ? "With a warning:" : `With ${texts.length} kinds of warnings:`;
	const items = texts.map((one) => [one]);
	return texts.length === 0 ? [] : [doc.text(head, undefined, depth), doc.list(items, depth)];
}

/** SLA lines that are met, or had no room above. Many that are met are folded, and counted on a terminal. */
export function lines(whole: Result): doc.Block[] {
	const all = outcomesOf(whole).filter(({ kind }) => kind === "gate");
	if (all.length === 0) return whole.searches.length > 0 ? [] : [doc.text(NO_SLA, undefined, 2)];
	const shown = brokenOf(whole).slice(0, MOST_BROKEN);
	const untold = all.filter(
		({ verdict, gate }) => verdict !== "pass" && shown.every((one) => one.gate !== gate),
	);
	const met = all.filter(({ verdict }) => verdict === "pass");
	const isMany = met.length > MOST_OPEN;
	const several = new Set(all.map((one) => `${one.system}/${one.case}`)).size > 1;
	const count = met.length === all.length ? "All" : `${met.length} of`;
	const counted = `${count} ${all.length} SLA lines ${met.length === 1 ? "is" : "are"} met`;
	const items = met.map((one): doc.Item => {
		const { broke, where } = explain(one, whole);
		return { badge: "pass", text: several ? `${where}: ${broke}` : broke, more: [one.why] };
	});
	const table = lineTables(met, several, whole);
	const timed = all.some(({ gate }) => gate?.metric != null);
	return [
		...lineTables(untold, several, whole),
		...(isMany
			? [doc.fold(`${counted}: which`, table, { depth: 2 })]
			: [doc.text(met.length > 0 && shown.length > 0 ? counted : null, undefined, 2), ...table]),
		...doc.upTo(1, { kind: "list", items: isMany ? [{ badge: "pass", text: counted }] : items }),
		doc.text(timed || whole.verdict !== "pass" ? null : NO_TIME, "soft", 2),
	];
}

// --- internal ---

const NO_SLA =
	"No SLA: nothing was judged. The verdict says whether the measurement is to be trusted";
const NO_TIME = "No line limits how long a message may take: PASS says nothing of that";
/** This many are explained; the table has the others. */
const MOST_BROKEN = 8;
/** If more are met, they are folded. */
const MOST_OPEN = 8;

/** In the user's own file. */
function lineOf({ line }: Outcome, { command }: Result): doc.Piece {
	const file = command?.file ?? command?.scenario ?? "scenario.yaml";
	return doc.aside(line === null ? "" : `(${file}:${line})`);
}

function lineTables(all: readonly Outcome[], several: boolean, whole: Result): doc.Table[] {
	if (all.length === 0) return [];
	const columns = [
		"SLA",
		...(several ? ["system, case"] : []),
		"verdict",
		"measured",
		{ name: "limit", depth: 3 as const },
		"margin",
		"why",
	];
	const rows = all.map((one): doc.Inline[] => {
		const { measured, margin } = explain(one, whole);
		return [
			[doc.code(one.what), lineOf(one, whole)],
			...(several ? [linked(`${one.system}, ${one.case}`, one, whole)] : []),
			doc.badge(one.verdict),
			measured,
			one.gate?.limit ?? "",
			margin,
			one.why,
		];
	});
	return [doc.table(columns, rows, { look: "gates", depth: 2 })];
}

/** Links to the run that it is about, or to its search. */
function linked(shown: string, { run, runs, ...place }: Outcome, whole: Result): doc.Piece {
	const single = whole.runs.filter((one) => one.search === null);
	const about = single.findIndex((one) => one === run || (run === null && runs.includes(one)));
	if (about >= 0) return doc.link(shown, `#run-${about + 1}`);
	const search = whole.searches.findIndex(
		(one) => one.system === place.system && one.case === place.case,
	);
	return search < 0 ? shown : doc.link(shown, `#search-${search + 1}`);
}
