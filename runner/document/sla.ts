import type { Result, Run } from "../model/result.ts";
import { explain } from "../result/explain.ts";
import { brokenOf, type Outcome, outcomesOf } from "../result/outcomes.ts";
import { runTitle } from "../result/words.ts";
import { tell } from "../text/tell.ts";
import {
	aside,
	type Block,
	badge,
	code,
	type Depth,
	fold,
	type Inline,
	type Item,
	instead,
	type List,
	link,
	list,
	type Piece,
	type Table,
	type Text,
	table,
	text,
} from "./blocks.ts";

/** Which lines a result that passes was judged by, and that none of them is about time, where that is so. */
export function judged({ verdict, gates }: Result): Text {
	const all = [...new Set(gates.map(({ sla }) => sla))];
	const more = all.length - MOST_JUDGED;
	const lines = `${all.slice(0, MOST_JUDGED).join("; ")}${more > 0 ? `; and ${more} more` : ""}`;
	const timed = gates.some(({ metric }) => metric !== null);
	const said = tell(timed ? "judged-by" : "judged-without-time", { lines });
	return text(verdict === "pass" && all.length > 0 ? said : null, "soft", 3);
}

/** What kept the result from passing, the worst first: by how much, where, why, when, and what to do. The same advice is given once. */
export function broken(whole: Result): List {
	const all = brokenOf(whole);
	const more = all.length - MOST_BROKEN;
	const advised = new Set<string>();
	const items = all.slice(0, MOST_BROKEN).map((outcome): Item => {
		const { broke, where, when, why, next } = explain(outcome, whole);
		const advice = next === null || advised.has(next) ? [] : [`What to do: ${next}`];
		if (next !== null) advised.add(next);
		const to = anchorOf(outcome, whole);
		return {
			badge: outcome.verdict,
			text: [to === null ? where : link(where, to), lineOf(outcome), `: ${broke}`],
			more: [...(why === null ? [] : [why]), ...(when === null ? [] : [when]), ...advice],
		};
	});
	const rest =
		more > 0 ? tell("more-not-passed", { more, where: tell("see-table-or-report") }) : null;
	return { kind: "list", items, rest };
}

/** What checks warned of, whatever the verdict: each check in a line, with the run in which it found most. */
export function warnings(result: Result, depth: Depth): Block[] {
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
	return texts.length === 0
		? []
		: [
				text(head, undefined, depth),
				list(
					texts.map((one) => [one]),
					depth,
				),
			];
}

/** The SLA lines that are met, and those for which there was no room above. A terminal has no room for a table, and of many runs only counts them. */
export function lines(whole: Result, many: boolean): Block[] {
	const all = outcomesOf(whole).filter(({ kind }) => kind === "gate");
	if (all.length === 0)
		return whole.searches.length > 0 ? [] : [text(tell("no-sla-means"), undefined, 2)];
	const told = new Set(
		brokenOf(whole)
			.slice(0, MOST_BROKEN)
			.map(({ gate }) => gate),
	);
	const [met, untold] = [true, false].map((passed) =>
		all.filter(({ verdict, gate }) => (verdict === "pass") === passed && !told.has(gate)),
	) as [Outcome[], Outcome[]];
	const several = new Set(all.map((one) => `${one.system}/${one.case}`)).size > 1;
	const tableOf = (some: readonly Outcome[]) =>
		some.length === 0 ? [] : [lineTable(some, several, whole)];
	// What else kept it from passing stands above.
	const besides = met.length === all.length && whole.verdict !== "pass" ? tell("not-by-lines") : "";
	const count = met.length === all.length ? "All" : `${met.length} of`;
	const counted = `${count} ${all.length} SLA lines ${met.length === 1 ? "is" : "are"} met${besides}`;
	const items = met.map((one): Item => {
		const { broke, where } = explain(one, whole);
		return { badge: "pass", text: several ? `${where}: ${broke}` : broke, more: [one.why] };
	});
	const short: Item[] = met.length === 0 ? [] : [{ badge: "pass", text: counted }];
	return [
		...tableOf(untold),
		...(met.length > MOST_OPEN
			? [fold(`${counted}: which`, tableOf(met), { depth: 2 })]
			: [text(met.length > 0 && told.size > 0 ? counted : null, undefined, 2), ...tableOf(met)]),
		instead(2, [], [{ kind: "list", items: many ? short : items }]),
	];
}

// --- internal ---

/** Lines that are named at once. */
const MOST_JUDGED = 3;
/** So many are explained one by one; the table has the others. */
const MOST_BROKEN = 8;
/** More lines that are met are folded. */
const MOST_OPEN = 8;

/** Where a line stands, and of one that is told by its numbers its text; in brackets, where there is any. */
function lineOf({ gate, what, verdict, line }: Outcome): Piece {
	const parts = [
		...(gate && verdict === "fail" ? [what] : []),
		...(line === null ? [] : [`scenario.yaml:${line}`]),
	];
	return aside(parts.length === 0 ? "" : `(${parts.join(", ")})`);
}

function lineTable(all: readonly Outcome[], several: boolean, whole: Result): Table {
	const columns = [
		"SLA",
		...(several ? ["system, case"] : []),
		"verdict",
		"measured",
		{ name: "limit", depth: 3 as const },
		"margin",
		"why",
	];
	const rows = all.map((one): Inline[] => {
		const { measured, margin } = explain(one, whole);
		const place = `${one.system}, ${one.case}`;
		const to = anchorOf(one, whole);
		return [
			[code(one.what), aside(one.line === null ? "" : `scenario.yaml:${one.line}`)],
			...(several ? [to === null ? place : link(place, to)] : []),
			badge(one.verdict),
			measured,
			one.gate?.limit ?? "",
			margin,
			one.why,
		];
	});
	return table(columns, rows, { look: "gates", depth: 2 });
}

/** Where on a page it is seen: the run that it is about, of several repeats the worst; of a search its section. */
function anchorOf({ run, runs: own, ...place }: Outcome, whole: Result): string | null {
	const shown = whole.runs.filter((one) => one.search === null);
	const about = shown.findIndex((one) => one === run || (run === null && own.includes(one)));
	if (about >= 0) return `#run-${about + 1}`;
	const search = whole.searches.findIndex(
		(one) => one.system === place.system && one.case === place.case,
	);
	return search < 0 ? null : `#search-${search + 1}`;
}
