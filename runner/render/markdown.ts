import { createHash } from "node:crypto";
import { at, type Block, type Document, sentence } from "../document/blocks.ts";
import { inline, markdownBlocks } from "./markdown/blocks.ts";
import { escaped } from "./markdown/escape.ts";

/** Bytes. GitHub refuses a comment of 65 536 characters, to which its poster adds a line or two, and a summary of 1 MiB. */
export const COMMENT = 64_000;
export const SUMMARY = 900_000;

interface MarkdownOptions {
	readonly most: number;
	/** The first line is an invisible comment, by which a later run finds and replaces this one. */
	readonly marked: boolean;
}

/** `report.md` and, shorter and marked, `comment.md`: the verdict and what broke, then each section that has room. */
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
	// Failures and warnings come first.
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

/** `<!-- mqbench:quickstart -->`: one comment for each scenario. A name with more than letters, digits and single "-" is hashed. */
export function markerOf(scenario: string): string {
	const isPlain = scenario.length <= 200 && /^[\w.]+(?:-[\w.]+)*$/.test(scenario);
	return `<!-- mqbench:${isPlain ? scenario : createHash("sha256").update(scenario).digest("hex")} -->`;
}
