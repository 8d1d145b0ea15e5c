import type { Gate, Result } from "../../model/result.ts";
import { plural } from "../../units.ts";
import { breachOf } from "../breach.ts";
import { brokenOf, type Outcome } from "../outcomes.ts";
import { gateText } from "../words.ts";
import type { Page } from "./text-page.ts";

/** What kept the result from passing, the worst first: which SLA line, by how much, where, and what to do. */
export function brokenLines(result: Result, page: Page): string[] {
	const broken = brokenOf(result);
	const advised = new Set<string>();
	const lines = broken.slice(0, MOST).flatMap((outcome, i) => {
		const { broke, where, when, next } = breachOf(outcome, result);
		const { of } = outcome;
		const first = firstLines(outcome, severalOf(result) ? where : null, page);
		if (i >= MOST_TOLD) return first;
		// The same advice is given once.
		const advice = advised.has(next) ? [] : [`What to do: ${next}`];
		advised.add(next);
		return [
			...first,
			...[of.kind === "gate" ? of.gate.why : broke, when, ...advice].flatMap(
				(text) => (text === null ? [] : page.fold(text, " ".repeat(INDENT))),
			),
		];
	});
	const more = broken.length - MOST;
	return more > 0
		? [
				...lines,
				...page.fold(`and ${more} more that did not pass: see report.html`),
			]
		: lines;
}

/** Gates that passed; of many runs only how many. */
export function keptLines(
	{ gates, runs }: Result,
	many: boolean,
	page: Page,
): string[] {
	const kept = gates.filter((g) => g.verdict === "pass");
	if (kept.length === 0) return [];
	if (many)
		return [
			`${page.badge("pass")}${" ".repeat(INDENT - 4)}${kept.length} of ${plural(gates.length, "gate")}`,
		];
	const several = severalOf({ gates, runs });
	return kept.flatMap((gate) => [
		...gateLines(gate, several ? `${gate.system}, ${gate.case}` : null, page),
		...page.fold(gate.why, " ".repeat(INDENT)),
	]);
}

/** What is broken once more, a line each: the end of a long report is what is on the screen. */
export function recapLines(result: Result, page: Page): string[] {
	return brokenOf(result)
		.slice(0, MOST_AGAIN)
		.flatMap((outcome) =>
			firstLines(
				outcome,
				severalOf(result) ? `${outcome.system}, ${outcome.case}` : null,
				page,
			),
		);
}

// --- internal ---

const MOST = 12;
/** So many of them with all that there is to say. */
const MOST_TOLD = 5;
const MOST_AGAIN = 4;

/** Where the text of a gate begins: right of "INCONCLUSIVE". */
const INDENT = 14;

/** Are there several systems, cases or repeats, so that a gate has to say which it is of? */
function severalOf({ gates, runs }: Pick<Result, "gates" | "runs">): boolean {
	return (
		runs.length > 1 ||
		new Set(gates.map((g) => `${g.system}, ${g.case}`)).size > 1
	);
}

function firstLines(
	outcome: Outcome,
	where: string | null,
	page: Page,
): string[] {
	const { of, verdict, what } = outcome;
	return of.kind === "gate"
		? gateLines(of.gate, where, page)
		: badged(verdict, where === null ? what : `${what} (${where})`, page);
}

function gateLines(gate: Gate, where: string | null, page: Page): string[] {
	const place = where === null ? "" : ` (${where})`;
	return badged(gate.verdict, `${gate.sla}${place}: ${gateText(gate)}`, page);
}

function badged(verdict: Gate["verdict"], text: string, page: Page): string[] {
	const [first = "", ...rest] = page.fold(text, " ".repeat(INDENT));
	return [`${page.badge(verdict)}${first.slice(verdict.length)}`, ...rest];
}
