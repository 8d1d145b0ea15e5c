import type { Comparing } from "../../compare/comparing.ts";
import { adapted } from "../../document/adapted.ts";
import { at } from "../../document/blocks.ts";
import { comparingSections, outcomeWord, sidesOf } from "../../document/comparing.ts";
import { sentence } from "../../document/sentence.ts";
import { markdownBlocks } from "../markdown/blocks.ts";
import { escaped } from "../markdown/escape.ts";

/** The comparison for a pull request: what decides in tables, the reasons below them, the rest folded. */
export function comparingMarkdown(comparing: Comparing): string {
	const { outcome, summary } = comparing;
	const writing = {
		names: [],
		size: { most: Number.POSITIVE_INFINITY, of: "characters" as const },
	};
	const parts = [
		`## Compared with the baseline: ${outcomeWord(outcome)}`,
		`**${escaped(sentence(summary))}**`,
		sidesOf(comparing)
			.map((side) => `- ${escaped(side)}`)
			.join("\n"),
		...at(adapted(comparingSections(comparing)), 2).flatMap((block) =>
			markdownBlocks(block.kind === "fold" ? block.blocks : [block], writing, 3),
		),
	];
	return `${parts.join("\n\n")}\n`;
}
