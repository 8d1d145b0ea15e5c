import type { Result, Run } from "../model/result.ts";
import { runTitle } from "../result/words.ts";
import { tell } from "../text/tell.ts";
import { plural } from "../units.ts";
import { aside, badge, code, details, heading, list, paragraph, sentences } from "./make.ts";
import { type Block, FILES, type Medium, PAGE, TERMINAL, TEXTS } from "./old-blocks.ts";
import { errorTexts } from "./words.ts";

/**
 * Whether a measurement is to be trusted: what checks found stands open; what is well, or not known, is folded, and of many runs
 * (`short`) only counted.
 */
export function checks(run: Run, short: boolean): Block[] {
	if (run.validity.length === 0) return [];
	const findings = foundOf(run);
	const quiet = run.validity.filter((c) => QUIET.has(c.status));
	const unknown = quiet.filter((c) => c.status === "unknown");
	const summary = `${quiet.length - unknown.length} checks found nothing${unknown.length > 0 ? `, ${unknown.length} could not be made` : ""}`;
	return [
		heading(tell("title-checks"), { media: PAGE }),
		// Of texts, which have it above: why a run is what it is.
		checkList(
			findings.filter(({ detail }) => detail === run.why),
			PAGE,
		),
		checkList(findings.filter(({ detail }) => detail !== run.why)),
		short ? paragraph(summary, "soft", PAGE) : details(summary, [checkList(quiet)], PAGE),
		paragraph(
			unknown.length === 0
				? null
				: `not known: ${unknown.map((c) => `${c.check} (${c.detail})`).join(", ")}`,
			"plain",
			TEXTS,
		),
	];
}

/** What the broker's library said. */
export function errors(run: Run): Block[] {
	return [
		...(run.errors.length === 0 ? [] : [heading("Errors", { media: PAGE })]),
		list(
			run.errors.map((e) => [`${plural(e.count, "time")}: `, code(e.message)]),
			FILES,
		),
		sentences(errorTexts(run, MOST_ERRORS), "plain", TERMINAL),
	];
}

/** Of many runs what decided them, and what checks found: each sentence once, with the runs it is of. */
export function remarks(result: Result): string[] {
	// Remarks that differ by their figures alone are one, as nobody reads twenty of them.
	const byShape = new Map<string, { texts: Set<string>; runs: string[] }>();
	for (const run of result.runs) {
		const texts = [
			...(run.why === null ? [] : [run.why]),
			...foundOf(run)
				.filter((c) => c.detail !== run.why)
				.map((c) => `${c.status}: ${c.check}: ${c.detail}`),
			...run.notes.map((note) => `note: ${note}`),
			...errorTexts(run, 1),
		];
		for (const text of texts) {
			const alike = text.replaceAll(/\d+(?:[ .]\d+)*/g, "#");
			const one = byShape.get(alike) ?? { texts: new Set(), runs: [] };
			one.texts.add(text);
			one.runs.push(runTitle(run, result));
			byShape.set(alike, one);
		}
	}
	const more = byShape.size - MOST_REMARKS;
	return [
		...[...byShape.values()]
			.slice(0, MOST_REMARKS)
			.map(({ texts, runs: [first = "", ...others] }) => {
				const [text = ""] = texts;
				const where = others.length === 0 ? first : `${first} and ${others.length} more`;
				const figures = texts.size > 1 ? " (figures of the first; all in report.html)" : "";
				return `${where}: ${text}${figures}`;
			}),
		...(more > 0 ? [`and ${plural(more, "more remark")}: see report.html`] : []),
	];
}

// --- internal ---

const MOST_REMARKS = 8;
/** On a terminal. */
const MOST_ERRORS = 3;

const QUIET: ReadonlySet<string> = new Set(["ok", "unknown"]);

function foundOf(run: Run): Run["validity"] {
	return run.validity.filter((c) => !QUIET.has(c.status));
}

function checkList(all: Run["validity"], media?: readonly Medium[]): Block {
	return list(
		all.map(({ check, status, detail, remedy, figure, limit }) => [
			badge(status, status),
			`: ${check}: ${detail}${remedy === null ? "" : `. What to do: ${remedy}`}`,
			aside(figure === null ? "" : `(${figure}${limit === null ? "" : `, limit ${limit}`})`),
		]),
		media,
	);
}
