import type { Figure } from "../../report/charts/figure.ts";
import { theme } from "../../report/page/client/theme.ts";

/** Draws a figure, or the same one anew, in its place on the page. */
export type Draw = (figure: Figure) => void;

/** What draws in the place `block`: one for each chart. */
export function drawIn(block: HTMLElement): Draw {
	return (figure) => {
		shown.set(block, figure);
		void picture(block);
	};
}

/** Colours have changed. */
export function drawAgain(): void {
	for (const block of shown.keys()) void picture(block);
}

// --- internal ---

/** drawer.ts as it is bundled: with it mqbench draws .svg files in Node, of which it needs nothing. */
const DRAWER = "./draw.js";
let drawer: Promise<typeof import("./drawer.ts")> | null = null;

const shown = new Map<HTMLElement, Figure>();

async function picture(block: HTMLElement): Promise<void> {
	drawer ??= import(DRAWER);
	const { firstView, pictureOf } = await drawer;
	const figure = shown.get(block);
	if (figure === undefined || !block.isConnected) return;
	// Empty it is not there, and has no width.
	if (block.firstChild === null) block.append(" ");
	const width = Math.max(260, block.clientWidth - 28);
	block.innerHTML = pictureOf(figure, firstView(figure, theme(), width));
	block.dataset.drawn = theme();
}
