import { type Block, shownIn } from "../../document/blocks.ts";
import { largestOf, smallestOf } from "../../extremes.ts";
import { sparkline } from "../../terminal/sparkline.ts";
import { formatCount, formatDuration } from "../../units.ts";
import { plainOf } from "./plain.ts";
import { tableLines } from "./table.ts";
import type { Page } from "./text-page.ts";

/** Blocks as lines of a terminal: what stands for itself has a blank line above it. */
export function blockLines(blocks: readonly Block[], page: Page, indent = "  "): string[] {
	let titled = true;
	return shownIn(blocks, "terminal").flatMap((block) => {
		const lines = linesOf(block, page, indent);
		const apart = SEPARATE.has(block.kind) && !titled && lines.length > 0;
		if (lines.length > 0) titled = block.kind === "heading";
		return apart ? ["", ...lines] : lines;
	});
}

// --- internal ---

const SEPARATE: ReadonlySet<Block["kind"]> = new Set(["heading", "table", "counts", "spark"]);

/** Where the text of a verdict begins: right of "INCONCLUSIVE". */
const INDENT = 14;

function linesOf(block: Block, page: Page, indent: string): string[] {
	switch (block.kind) {
		case "paragraph":
			return block.texts.flatMap((text) => page.fold(plainOf(text), indent));
		case "heading":
			return page.fold(block.text, indent);
		case "list":
			return block.items.flatMap((item) => page.fold(plainOf(item), indent));
		case "table":
			return tableLines(block, page);
		case "verdicts":
			return verdictLines(block, page);
		case "counts":
			return countLines(block.items, page);
		case "spark":
			return sparkLines(block, page);
		case "details":
			return [...page.fold(block.summary, indent), ...blockLines(block.blocks, page, indent)];
		case "code":
			return page.fold(block.text, indent);
		case "charts":
		case "matrix":
		case "provenance":
			return [];
	}
}

function verdictLines({ items, rest }: Extract<Block, { kind: "verdicts" }>, page: Page): string[] {
	const indent = " ".repeat(INDENT);
	return [
		...items.flatMap(({ verdict, text, more }) => {
			const [first = "", ...others] = page.fold(plainOf(text), indent);
			return [
				`${page.badge(verdict)}${first.slice(verdict.length)}`,
				...others,
				...more.flatMap((one) => page.fold(one, indent)),
			];
		}),
		...(rest === null ? [] : page.fold(rest)),
	];
}

/** Breaks between the counts only. */
function countLines(items: Extract<Block, { kind: "counts" }>["items"], page: Page): string[] {
	const lines: string[] = [];
	for (const { name, text } of shownIn(items, "terminal")) {
		const one = `  ${name} ${text}`;
		const line = `${lines.at(-1) ?? ""}${one}`;
		if (lines.length > 0 && line.length <= page.width) lines[lines.length - 1] = line;
		else lines.push(one);
	}
	return lines;
}

/** A stall, or a slope, at a glance. */
function sparkLines(
	{ name, unit, values, notes }: Extract<Block, { kind: "spark" }>,
	page: Page,
): string[] {
	const known = values.filter((v) => v !== null);
	if (!page.unicode || known.length < 3) return [];
	const text = unit === "ns" ? formatDuration : formatCount;
	const scale = `${text(smallestOf(known))} to ${text(largestOf(known))}`;
	const room = page.width - name.length - scale.length - 6;
	return [
		`  ${name}  ${sparkline(values, room)}  ${scale}`,
		...notes.flatMap((note) => page.fold(note, "  ")),
	];
}
