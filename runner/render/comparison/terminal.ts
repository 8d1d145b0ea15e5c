import { type Comparing, OUTCOMES } from "../../compare/comparing.ts";
import { adapted } from "../../document/adapted.ts";
import { at } from "../../document/blocks.ts";
import { comparingSections, outcomeWord, sidesOf } from "../../document/comparing.ts";
import { plainAll } from "../../terminal/columns.ts";
import { blockLines } from "../terminal/blocks.ts";
import { makePage, type PageOptions } from "../terminal/text-page.ts";

/** The comparison as it is printed; its last line is the outcome. */
export function renderComparing(given: Comparing, options: PageOptions): string {
	const comparing = plainAll(given);
	const page = makePage(options);
	const { outcome, summary } = comparing;
	const word = outcomeWord(outcome);
	const [first = "", ...others] = page.fold(`${word}  ${summary}.`, "  ", "");
	const lines = [
		...sidesOf(comparing).flatMap((side) => page.fold(side, "   ", "")),
		"",
		...at(adapted(comparingSections(comparing)), 1).flatMap((block) =>
			block.kind === "fold"
				? [
						...page.fold(block.title).map((line) => page.style("bold", line)),
						...blockLines(block.blocks, page),
						"",
					]
				: [],
		),
		`${page.badge(OUTCOMES[outcome], word)}${first.slice(word.length)}`,
		...others,
	];
	return `${lines.join("\n")}\n`;
}
