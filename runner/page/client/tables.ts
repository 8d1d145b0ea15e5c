import type { Figure } from "../../chart/old-figure.ts";
import { figureParts, tableBlock } from "../figure-parts.ts";
import { tablesOf } from "../table.ts";
import { watchWide } from "./scroll.ts";

/** Fills the block of a figure that the page has left empty for want of room; its tables are made when they are opened. */
export function fill(block: HTMLElement, figure: Figure): void {
	if (block.firstElementChild !== null) return;
	// All that is put in is escaped by figureParts and tableBlock, as in the pages that Node makes.
	block.innerHTML = figureParts(figure, false).text;
	const details = block.querySelector("details");
	details?.addEventListener(
		"toggle",
		() => {
			const html = tablesOf(figure).map((table) => tableBlock(table).text);
			details.insertAdjacentHTML("beforeend", html.join(""));
			watchWide(details);
		},
		{ once: true },
	);
}
