import { createHash } from "node:crypto";
import { at, type Block, type Document, sentence } from "../document/blocks.ts";
import { inline, markdownBlocks } from "./markdown/blocks.ts";
import { escaped } from "./markdown/escape.ts";

/** Bytes. GitHub refuses a comment of 65 536 characters, to which its poster adds a line or two, and a step's summary of 1 MiB. */
export const COMMENT = 64_000;
export const SUMMARY = 900_000;

interface MarkdownOptions {
	/** Bytes that there is room for. */
	readonly most: number;
	/** First line is a comment nobody sees, by which a later run finds and replaces what this one wrote. */
	readonly marked: boolean;
}

/**
 * `report.md` and, shorter and marked, `comment.md`: for a pull request, an issue or the summary of a job. The verdict and what broke first, then
 * each section that there is room for. The whole report is report.html.
 */
export function renderMarkdown(
	document: Document,
	{ most, marked }: MarkdownOptions = { most: SUMMARY, marked: false },
): string {
	const { title, word, lead, answer, head, sections, foot, whole, names } = document;
	const said = (blocks: readonly Block[]) => markdownBlocks(blocks, names, 2).join("\n\n");
	const isBroken = (block: Block) => block.kind === "fold" && block.title === "";
	const own = at(answer, 2);
	const first = [
		...(marked ? [markerOf(title)] : []),
		`# ${escaped(title)}${word === "" ? "" : `: ${word}`}`,
		escaped(sentence(lead, names)),
	];
	// What broke and what was warned of comes first.
	const parts = [
		said(own.filter(isBroken)),
		said(own.filter((block) => !isBroken(block))),
		said(at(head, 2)),
		...at(sections, 2).map((block) => said([block])),
	].filter((text) => text !== "");
	const note = (left: number) =>
		`**There is no more room here: ${left} of ${parts.length} sections are left out.** ${inline(whole)}`;
	const last = [said(at(foot, 2))].filter((text) => text !== "");
	const sizeOf = (texts: readonly string[]) => Buffer.byteLength(texts.join("\n\n")) + 2;
	let room = most - sizeOf([...first, note(parts.length), ...last]);
	const kept = parts.filter((part) => {
		const size = sizeOf([part]);
		const fits = size <= room;
		if (fits) room -= size;
		return fits;
	});
	const left = parts.length - kept.length;
	return `${[...first, ...kept, ...(left === 0 ? [] : [note(left)]), ...last].join("\n\n")}\n`;
}

/** `<!-- mqbench:quickstart -->`: a scenario keeps one comment. A name that has more than letters, digits and single "-" is its hash. */
export function markerOf(scenario: string): string {
	const isPlain = scenario.length <= 200 && /^[\w.]+(?:-[\w.]+)*$/.test(scenario);
	return `<!-- mqbench:${isPlain ? scenario : createHash("sha256").update(scenario).digest("hex")} -->`;
}
