import type { Result, Search } from "../model/result.ts";
import { explain } from "../result/explain.ts";
import { brokenOf, type Outcome, outcomesOf } from "../result/outcomes.ts";
import { warningsOf, warningText } from "../result/warnings.ts";
import { tell } from "../text/tell.ts";
import { plural } from "../units.ts";
import { aside, badge, code, details, link, list, paragraph, sentences, table } from "./make.ts";
import {
	type Block,
	FILES,
	type Medium,
	PAGE,
	type Table,
	TERMINAL,
	type Text,
	type Verdicts,
} from "./old-blocks.ts";

/** Which lines a result that passes was judged by, and that none of them is about time, where that is so. */
export function judged({ verdict, gates }: Result): Block[] {
	if (verdict !== "pass" || gates.length === 0) return [];
	const lines = [...new Set(gates.map(({ sla }) => sla))];
	const shown = lines.slice(0, MOST_JUDGED).join("; ");
	const more = lines.length - MOST_JUDGED;
	return [
		paragraph(
			tell(gates.some(({ metric }) => metric !== null) ? "judged-by" : "judged-without-time", {
				lines: more > 0 ? `${shown}; and ${more} more` : shown,
			}),
			"soft",
			PAGE,
		),
	];
}

/** What kept the result from passing, the worst first: by how much, where, and what to do. The same advice is given once. */
export function broken(whole: Result): Block[] {
	const all = brokenOf(whole);
	const advised = new Set<string>();
	const items = all.slice(0, MOST_BROKEN).map((outcome) => {
		const { broke, where, when, next } = explain(outcome, whole);
		const advice = next === null || advised.has(next) ? [] : [`What to do: ${next}`];
		if (next !== null) advised.add(next);
		return {
			verdict: outcome.verdict,
			text: [link(where, anchorOf(outcome, whole)), `: ${broke}`],
			more: [...(when === null ? [] : [when]), ...advice],
		};
	});
	return verdicts(items, all.length, tell("see-table-or-report"));
}

/** What the numbers have been through: who only sees the shared summary sees no run. */
export function warnings(result: Result): Block[] {
	const all = warningsOf(result).map((one) => [warningText(one)]);
	const head = all.length === 1 ? "With a warning:" : `With ${all.length} kinds of warnings:`;
	return [paragraph(all.length === 0 ? null : head, "plain", FILES), list(all, FILES)];
}

/** What checks warned of in the runs of a search: a terminal, which has no list of all warnings, shows none of them by itself. */
export function searchWarnings({ runs }: Search, whole: Result): Block[] {
	const own = new Set(runs.map(({ index }) => index));
	const all = warningsOf({ ...whole, runs: whole.runs.filter(({ index }) => own.has(index)) });
	const texts = all.map((one) => `warn: ${warningText(one)}`);
	return [sentences(texts, "plain", TERMINAL)];
}

/** Every SLA line, and how it came out. Of many those that are met are folded; a terminal only counts them. */
export function gates(whole: Result): Block[] {
	const all = linesOf(whole);
	if (all.length === 0)
		return whole.searches.length > 0 ? [] : [paragraph(tell("no-sla-means"), "plain", FILES)];
	const several = placesOf(all) > 1;
	const passed = all.filter((g) => g.verdict === "pass");
	const others = all.filter((g) => g.verdict !== "pass");
	const rows = (some: readonly Outcome[], share: number) => gateTable(some, several, whole, share);
	if (all.length <= MOST_OPEN || passed.length === 0) return [rows(all, SHARE)];
	const met = others.length === 0 ? `All ${all.length}` : `${passed.length} of ${all.length}`;
	// What else kept it from passing stands above.
	const besides = others.length === 0 && whole.verdict !== "pass" ? tell("not-by-lines") : "";
	const summary = `${met} SLA lines are met${besides}: which`;
	return [
		...(others.length > 0 ? [rows(others, SHARE / 2)] : []),
		details(summary, [rows(passed, SHARE / 2)], FILES),
	];
}

/** The same at the end of a terminal's lines, where it is on the screen. */
export function gateLines(result: Result, many: boolean): Block[] {
	const all = linesOf(result);
	const several = result.runs.length > 1 || placesOf(all) > 1;
	const item = (line: Outcome) => {
		const { what, system, case: name, verdict } = line;
		const { measured, interval, margin, why } = explain(line, result);
		const value = interval === "" ? measured : `${measured} ${interval}`;
		const figures = margin === "" ? value : `${value}, ${margin}`;
		const text = `${what}${several ? ` (${system}, ${name})` : ""}: ${figures}`;
		return { verdict, text, more: [why] };
	};
	const passed = all.filter((g) => g.verdict === "pass");
	const others = all.filter((g) => g.verdict !== "pass");
	const kept = `${passed.length} of ${plural(all.length, "gate")}`;
	const counted = passed.length === 0 ? [] : [{ verdict: "pass" as const, text: kept, more: [] }];
	return [
		...verdicts(others.slice(0, MOST_LINES).map(item), others.length, "see report.html", TERMINAL),
		...verdicts(many ? counted : passed.map(item), 0, "", TERMINAL),
	];
}

// --- internal ---

/** Lines that are named at once. */
const MOST_JUDGED = 3;

/** So many are explained one by one; the table has all. */
const MOST_BROKEN = 8;
/** From more gates on those that pass are folded. */
const MOST_OPEN = 8;
/** On a terminal. */
const MOST_LINES = 12;
/** Part of a comment's room. */
const SHARE = 0.4;

function linesOf(result: Result): Outcome[] {
	return outcomesOf(result).filter(({ gate }) => gate !== undefined);
}

function placesOf(all: readonly Outcome[]): number {
	return new Set(all.map((g) => JSON.stringify([g.system, g.case]))).size;
}

function gateTable(all: readonly Outcome[], several: boolean, whole: Result, share: number): Table {
	const columns = [
		"SLA",
		...(several ? ["system, case"] : []),
		"verdict",
		{ name: "measured", label: true },
		{ name: "limit", label: true, media: PAGE },
		"margin",
		"why",
	];
	const rows = all.map((one): Text[] => {
		const { what, system, case: name, line, gate, verdict } = one;
		const { measured, interval, margin, why } = explain(one, whole);
		return [
			[code(what), aside(line === null ? "" : `scenario.yaml:${line}`)],
			...(several ? [link(`${system}, ${name}`, anchorOf(one, whole))] : []),
			badge(verdict),
			[measured, aside(interval)],
			gate?.limit ?? "",
			margin,
			why,
		];
	});
	return table(columns, rows, { look: "gates", share, media: FILES });
}

/** Of none nothing; `count`: how many there are, and `where` the others stand. */
function verdicts(
	items: Verdicts["items"],
	count: number,
	where: string,
	media?: readonly Medium[],
): Block[] {
	const more = count - items.length;
	const rest = more > 0 ? tell("more-not-passed", { more, where }) : null;
	return items.length === 0 ? [] : [{ kind: "verdicts", items, rest, media }];
}

/** Where on a page it is seen: the run that it is about, of several repeats the worst; of a search its section. */
function anchorOf({ run, runs: own, ...place }: Outcome, whole: Result): string | null {
	const shown = whole.runs.filter((one) => one.search === null);
	const about = shown.findIndex((one) => one === run || (run === null && own.includes(one)));
	if (about >= 0) return `run-${about + 1}`;
	const search = whole.searches.findIndex(
		(one) => one.system === place.system && one.case === place.case,
	);
	return search < 0 ? null : `search-${search + 1}`;
}
