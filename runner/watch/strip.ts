import { type Block, table, text } from "../document/blocks.ts";
import { type LivePart, scriptSums } from "../page/html-page.ts";
import { type Markup, markup, Markup as Raw } from "../page/markup.ts";
import { blocksMarkup } from "../render/html/blocks.ts";
import type { LiveRow } from "../run/live.ts";
import { plural } from "../units.ts";

/** The current seconds of the run, on top of the page. */
export interface Strip {
	/** The run's title, "" before the first one. */
	readonly title: string;
	/** The last sentence, as during a build. */
	readonly doing: string;
	readonly rows: readonly LiveRow[];
	/** Finished runs, whose report is below the strip. */
	readonly over: number;
}

export function stripMarkup({ title, doing, rows, over }: Strip): Markup {
	const sofar = `Below: the report of ${plural(over, "run")} so far. Later runs may change its verdict.`;
	const blocks: readonly Block[] = [
		text({ as: "strong", text: title === "" ? "The first run has not begun." : title }),
		rows.length > 0
			? table(
					[],
					rows.map(([label, parts]) => [label, parts.join(", ")]),
					{ look: "facts" },
				)
			: text([doing === title ? "" : doing], "soft"),
		...(over > 0 ? [text([sofar], "soft")] : []),
	];
	return markup`${blocksMarkup(blocks, { names: [], figures: [] })}`;
}

/** The parts around the page; `watch.js` fills the strip. A page of a newer `version` replaces this one. */
export function livePart(version: number): LivePart {
	return {
		head: markup`<style>${new Raw(STYLE)}</style><script defer src="watch.js"></script>`,
		top: markup`<aside id="live" class="box unknown" data-version="${version}" aria-label="What goes on now"><noscript><p class="warn">The current seconds need JavaScript; the terminal shows the same.</p></noscript><p id="news" class="warn" role="status" hidden></p><div id="strip"></div><p><button type="button" id="stop" hidden>Stop</button></p></aside>`,
	};
}

/** It connects only to its server. The page's own scripts are allowed by their hashes. */
export function watchPolicy(): string {
	return `default-src 'none'; script-src 'self' ${scriptSums()}; style-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}

// --- internal ---

const STYLE =
	"#live{margin-top:1rem}#strip{color:var(--ink)}#strip .wide{background:none}#strip th,#strip td{border:0;padding:.1rem .9rem .1rem 0}#strip th{width:6rem}";
