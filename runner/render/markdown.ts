import { createHash } from "node:crypto";
import { type Section as DocumentSection, shownIn } from "../document/blocks.ts";
import { documentOf } from "../document/document.ts";
import { sentence } from "../document/sentence.ts";
import { WEAK_MEANS } from "../document/words.ts";
import type { Result } from "../model/result.ts";
import { tell } from "../text/tell.ts";
import { folded, markdownBlocks, type Writing } from "./markdown/blocks.ts";
import { codeSpan, cut, escaped } from "./markdown/escape.ts";
import { fitted, type Section, type Size } from "./sections.ts";

/** GitHub refuses a comment of 65 536 characters, to which its poster adds a line or two, and a step's summary of 1 MiB. */
export const COMMENT: Size = { most: 64_000, of: "characters" };
export const SUMMARY: Size = { most: 900_000, of: "bytes" };

interface MarkdownOptions {
	readonly size: Size;
	/** First line is a comment nobody sees, by which a later run finds and replaces what this one wrote. */
	readonly marked: boolean;
}

/**
 * `report.md` and, shorter and marked, `comment.md`: for a pull request, an issue or the summary of a job. Verdict, what broke and the
 * gates first, the rest folded. The whole report is report.html.
 */
export function renderMarkdown(
	result: Result,
	{ size, marked }: MarkdownOptions = { size: SUMMARY, marked: false },
): string {
	const document = documentOf(result);
	const { names, quick, where } = document;
	const writing: Writing = { names, size };
	const cellOf = (text: string) => escaped(cut(sentence(text, names), MOST_VERDICT));
	const head = [
		...(marked ? [markerOf(document.title)] : []),
		`# ${escaped(cut(document.title))}: ${document.word}`,
		...(quick === null ? [] : [`**${cellOf(quick)}**`]),
		cellOf(document.lead),
		...markdownBlocks([...document.broken, ...document.warnings], writing),
	];
	const gates = markdownBlocks(document.gates, writing);
	return fitted(
		head.join("\n\n"),
		[
			...(gates.length === 0 ? [] : [{ title: "SLA", text: gates.join("\n\n") }]),
			...(where.length === 0
				? []
				: [{ title: "where it was measured", text: where.map(cellOf).join(" ") }]),
			...shownIn(document.sections, "markdown").map((section) => sectionOf(section, writing)),
		],
		tell("markdown-reading", { weak: WEAK_MEANS, explain: document.explain }),
		size,
		`Everything is in report.html of the run ${codeSpan(cut(result.runId))}.`,
	);
}

/** `<!-- mqbench:quickstart -->`: whatever the scenario is called, it stays one comment, and another name has another one. */
export function markerOf(scenario: string): string {
	// Half an emoji has no percent-encoding.
	const name = encodeURIComponent(scenario.replaceAll(/\p{Surrogate}/gu, "\ufffd")).replaceAll(
		/(?<=-)-/g,
		"%2D",
	);
	return `<!-- mqbench:${name.length <= MOST_MARKER ? name : createHash("sha256").update(scenario).digest("hex")} -->`;
}

// --- internal ---

/** Longest name in a marker; of a longer one its hash. */
const MOST_MARKER = 3800;
const MOST_VERDICT = 4000;

/** Runs are folded: there is one of them for each system, case and repeat. */
function sectionOf({ title, verdict, run, blocks }: DocumentSection, writing: Writing): Section {
	const parts = markdownBlocks(blocks, writing);
	return {
		title,
		text:
			run === undefined
				? [`## ${escaped(cut(title))}`, ...parts].join("\n\n")
				: folded(`${cut(title)}: ${verdict?.toUpperCase()}`, parts),
	};
}
