import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { pageScript } from "../chart/draw.ts";
import type { Figure } from "../chart/old-figure.ts";
import { tell } from "../text/tell.ts";
import { figureParts } from "./figure-parts.ts";
import { type Markup, markup, Markup as Raw } from "./markup.ts";
import { STYLE } from "./style.ts";
import { UNPACK } from "./unpack.ts";

/** What a page holds. `header` has its h1; sections of `main` begin with an h2. */
export interface Page {
	/** For the browser's tab. */
	readonly title: string;
	/** Language of the texts. */
	readonly lang?: string;
	readonly header: Markup;
	readonly main: Markup;
	/** Their blocks stand in `main`; only those that are in this list are drawn. */
	readonly figures: readonly Figure[];
	/** Of a page that is served while its command goes on; left out: a file, which has a policy of its own. */
	readonly live?: LivePart | undefined;
	/** What is folded and filled in when it is opened, by the id of its place; left out: nothing. */
	readonly later?: ReadonlyMap<string, string>;
}

/** What stands in a page that `--watch` serves, whose policy its server names. */
export interface LivePart {
	readonly head: Markup;
	/** Above the header. */
	readonly top: Markup;
}

/**
 * One offline HTML file: it asks nobody for anything, and its Content-Security-Policy keeps it from doing so. Without
 * JavaScript tables hold all numbers; with it `page/main.ts` draws the figures. A large page holds script and data compressed.
 */
export function renderPage(page: Page): string {
	const later = [...(page.later ?? [])];
	const plain = document(page, [pageScript()], page.figures.map(dataOf));
	return Buffer.byteLength(plain) <= MOST_PLAIN && later.length === 0
		? plain
		: document(
				page,
				[UNPACK, pageScript()],
				[
					packed("figures", JSON.stringify(page.figures)),
					packed("later", JSON.stringify(Object.fromEntries(later))),
					packed("script", pageScript()),
				],
			);
}

/**
 * The place of a figure: title, facts, what it says in words, and its numbers as tables. Its switches and the drawing come
 * with JavaScript. `table: "later"`: all of it does, where a page has more figures than room.
 */
export function figureBlock(
	figure: Figure,
	options: { readonly table?: "now" | "later" } = {},
): Markup {
	return markup`<figure class="chart" id="figure-${figure.id}" data-figure="${figure.id}">${options.table !== "later" && figureParts(figure, true)}</figure>
`;
}

// --- internal ---

/** Bytes; 1.5 MB is what a report may have. */
const MOST_PLAIN = 1_350_000;

/** `scripts`: the first is the page's own, the others are what it may add. */
function document(
	page: Page,
	scripts: readonly [string, ...string[]],
	data: readonly Markup[],
): string {
	const hashes = scripts.map(
		(text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`,
	);
	const policy =
		page.live === undefined &&
		markup`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ${new Raw(hashes.join(" "))}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">`;
	return markup`<!doctype html>
<html lang="${page.lang ?? "en"}" class="plain"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
${policy}
<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer"><title>${page.title}</title><style>${new Raw(STYLE)}</style>${page.live?.head ?? null}</head><body>
<a class="skip" href="#main">Skip to the results</a>
${page.live?.top ?? null}<header>${page.header}<button type="button" class="switch theme" aria-pressed="false" hidden>Dark</button></header>
${page.figures.length > 0 && markup`<noscript><p class="warn">${tell("page-needs-script")}${page.main.text.includes("></figure>") && tell("page-without-times")}; <code>mqbench report --svg</code> ${tell("page-draws")}</p></noscript>`}
<main id="main" tabindex="-1">${page.main}</main>
<footer><p class="soft">${tell("page-foot")}</p></footer>
${data}<script>${new Raw(scripts[0])}</script>
</body></html>
`.text;
}

/** JSON that cannot end its script element: no "<" at all. */
function dataOf(figure: Figure): Markup {
	const json = JSON.stringify(figure).replaceAll("<", "\\u003c");
	return markup`<script type="application/json" data-of="${figure.id}">${new Raw(json)}</script>
`;
}

function packed(name: string, text: string): Markup {
	const base64 = gzipSync(text, { level: 9 }).toString("base64");
	return markup`<script type="text/plain" data-packed="${name}">${new Raw(base64)}</script>
`;
}
