import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import type { Figure } from "../chart/figure.ts";
import { heightOf, isNarrow } from "../chart/option.ts";
import { failure } from "../errors.ts";
import { packageFolder } from "../package.ts";
import { type Markup, markup, Markup as Raw } from "./markup.ts";
import { STYLE } from "./style.ts";

/** What a page holds. `header` has its h1; sections of `main` begin with an h2. */
export interface Page {
	/** For the browser's tab. */
	readonly title: string;
	readonly header: Markup;
	readonly main: Markup;
	/** Their blocks stand in `main`; only those that are in this list are drawn. */
	readonly figures: readonly Figure[];
	/** Of a page that is served while its command goes on; left out: a file, which has a policy of its own. */
	readonly live?: LivePart | undefined;
}

/** What stands in a page that `--watch` serves, whose policy its server names. */
export interface LivePart {
	readonly head: Markup;
	/** Above the header. */
	readonly top: Markup;
}

/**
 * One offline HTML file: it asks nobody for anything, and its Content-Security-Policy keeps it from doing so. Without JavaScript its tables and
 * sentences are there; with it `page/main.ts` makes the figures. Script and figures are packed.
 */
export function renderPage(page: Page): string {
	const policy =
		page.live === undefined &&
		markup`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ${new Raw(scriptSums())}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">`;
	return markup`<!doctype html>
<html lang="en" class="plain"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
${policy}
<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer"><title>${page.title}</title><style>${new Raw(STYLE)}</style>${page.live?.head ?? null}</head><body>
<a class="skip" href="#main">Skip to the results</a>
${page.live?.top ?? null}<header>${page.header}</header>
${page.figures.length > 0 && markup`<noscript><p class="warn">Charts and their tables need JavaScript. <code>mqbench report --svg</code> draws them as files.</p></noscript>`}
<main id="main" tabindex="-1">${page.main}</main>
<footer><p class="soft">Made by mqbench. This file needs no network.</p></footer>
${packed("figures", JSON.stringify(page.figures))}${script().packed}<script>${new Raw(UNPACK)}</script>
</body></html>
`.text;
}

/** What a policy names a page's two scripts by: the one that unpacks, and the one that it adds. */
export function scriptSums(): string {
	return script().sums;
}

/** A script that `npm run build` has made (bundle.ts). */
export function builtScript(name: "page.js" | "watch.js"): string {
	const file = path.join(packageFolder, "dist", "page", name);
	try {
		return readFileSync(file, "utf8");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
		throw failure("unbuilt", { file });
	}
}

/** The place of a figure, about as high as it becomes: all of it comes with JavaScript. */
export function figureBlock(figure: Figure): Markup {
	const height = heightOf(figure, USUAL) + AROUND;
	return markup`<figure class="chart${isNarrow(figure) && " narrow"}" id="figure-${figure.id}" data-figure="${figure.id}" style="min-height:${height}px"></figure>
`;
}

// --- internal ---

/** A page on a screen. */
const USUAL = { theme: "light", width: 1100, off: new Set<string>(), logarithmic: null } as const;
/** Pixels of title and tools. */
const AROUND = 160;

/** Unpacks in their places what a page holds packed, and starts its script. Where a browser cannot, the page stays as without one. */
const UNPACK = `(async () => {
const page = document.documentElement.classList;
page.remove("plain");
try {
for (const place of document.querySelectorAll("[data-packed]")) {
const bytes = Uint8Array.from(atob(place.textContent), (c) => c.charCodeAt(0));
place.textContent = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}
const script = document.createElement("script");
script.textContent = document.querySelector("[data-packed=script]").textContent;
document.body.append(script);
} catch {
page.add("plain");
const none = document.querySelector("noscript");
none?.insertAdjacentHTML("afterend", none.textContent);
}
})();`;

let own: { readonly packed: Markup; readonly sums: string } | null = null;

/** Read, packed and summed once: `--watch` renders a page after each run. */
function script() {
	if (own === null) {
		const text = builtScript("page.js");
		const sums = [UNPACK, text].map(
			(one) => `'sha256-${createHash("sha256").update(one).digest("base64")}'`,
		);
		own = { packed: packed("script", text), sums: sums.join(" ") };
	}
	return own;
}

function packed(name: string, text: string): Markup {
	const base64 = gzipSync(text, { level: 9 }).toString("base64");
	return markup`<script type="text/plain" data-packed="${name}">${new Raw(base64)}</script>
`;
}
