import { type Comparing, OUTCOMES } from "../../compare/comparing.ts";
import { groupsOf } from "../../compare/words.ts";
import { adapted } from "../../document/adapted.ts";
import { at } from "../../document/blocks.ts";
import { comparingSections, outcomeWord, sidesOf } from "../../document/comparing.ts";
import { sentence } from "../../document/sentence.ts";
import { comparingFigures, ratioFigure } from "../../figures/comparison.ts";
import { renderPage } from "../../page/html-page.ts";
import { markup } from "../../page/markup.ts";
import { badgeMarkup, blocksMarkup } from "../html/blocks.ts";

/** The comparison as one offline page: curves over each other, every ratio, machines and versions side by side. */
export function comparingPage(comparing: Comparing): string {
	const { a, others, outcome, summary } = comparing;
	const figures = others.flatMap((other) => [
		...groupsOf(other.comparisons).flatMap(({ title, comparisons }, i) => {
			const id = `ratios-${other.letter.toLowerCase()}-${i + 1}`;
			return ratioFigure(id, title, comparisons) ?? [];
		}),
		...comparingFigures(comparing, other).map(({ of: _, ...figure }) => figure),
	]);
	const title = a.baseline.scenario;
	const word = outcomeWord(outcome);
	const sections = at(adapted(comparingSections(comparing)), 3);
	return renderPage({
		title: `${title} compared: ${word} - mqbench`,
		header: markup`<div class="head"><h1>${title}, compared</h1>${badgeMarkup(OUTCOMES[outcome], word)}</div>
<p class="lead">${sentence(summary)}</p>
${sidesOf(comparing).map((side) => markup`<p class="soft">${sentence(side)}</p>`)}`,
		main: markup`${blocksMarkup(sections, { names: [], figures }, 2)}`,
		figures,
	});
}
