import { createHash } from "node:crypto";
import { at, type Document } from "../document/blocks.ts";
import { sentence } from "../document/sentence.ts";
import { inline, markdownBlocks } from "./markdown/blocks.ts";
import { cut, escaped } from "./markdown/escape.ts";
import { fitted, type Size } from "./sections.ts";

/** GitHub refuses a comment of 65 536 characters, to which its poster adds a line or two, and a step's summary of 1 MiB. */
export const COMMENT: Size = { most: 64_000, of: "characters" };
export const SUMMARY: Size = { most: 900_000, of: "bytes" };

interface MarkdownOptions {
	readonly size: Size;
	/** First line is a comment nobody sees, by which a later run finds and replaces what this one wrote. */
	readonly marked: boolean;
}

/**
 * `report.md` and, shorter and marked, `comment.md`: for a pull request, an issue or the summary of a job. The verdict and what broke first, then
 * as much of the rest as there is room for. The whole report is report.html.
 */
export function renderMarkdown(
	document: Document,
	{ size, marked }: MarkdownOptions = { size: SUMMARY, marked: false },
): string {
	const { title, word, lead, answer, head, sections, foot, whole, names } = document;
	const writing = { names, size };
	const said = (blocks: Document["answer"]) => markdownBlocks(blocks, writing, 2).join("\n\n");
	// What broke and what was warned of is always there; SLA lines can be many.
	const [always, lines] = parted(
		at(answer, 2),
		(block) => block.kind === "fold" && block.title === "",
	);
	const pieces = [
		{ title: "SLA", text: said(lines) },
		{ title: "where it was measured", text: said(at(head, 2)) },
		...at(sections, 2).map((block) => ({
			title: block.kind === "fold" ? cut(block.title) : title,
			text: said([block]),
		})),
	];
	return fitted(
		[
			...(marked ? [markerOf(title)] : []),
			`# ${escaped(cut(title))}${word === "" ? "" : `: ${word}`}`,
			escaped(cut(sentence(lead, names), MOST_VERDICT)),
			...markdownBlocks(always, writing, 2),
		].join("\n\n"),
		pieces.filter(({ text }) => text !== ""),
		said(at(foot, 2)),
		size,
		inline(whole),
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

function parted<T>(all: readonly T[], is: (one: T) => boolean): [T[], T[]] {
	return [all.filter(is), all.filter((one) => !is(one))];
}
