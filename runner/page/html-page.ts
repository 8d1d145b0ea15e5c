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

/** `header` contains the h1; sections of `main` begin with an h2. */
export interface Page {
	readonly title: string;
	readonly header: Markup;
	readonly main: Markup;
	/** `main` has a block for each; only figures of this list are drawn. */
	readonly figures: readonly Figure[];
	/** For a page that a running command serves. A file has its own policy instead. */
	readonly live?: LivePart | undefined;
}

/** Parts of a page that `--watch` serves, whose policy comes from its server. */
export interface LivePart {
	readonly head: Markup;
	readonly top: Markup;
}

/** One offline file that its policy forbids to load anything. Without JavaScript it has tables and sentences, but no figures. */
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
${page.figures.length > 0 && markup`<noscript><p class="warn">Charts and their tables need JavaScript. <code>npx mqbench report --svg</code> draws them as files.</p></noscript>`}
<main id="main" tabindex="-1">${page.main}</main>
<footer><p class="soft">Made by mqbench. This file needs no network.</p></footer>
${packed("figures", JSON.stringify(page.figures))}${script().packed}<script>${new Raw(UNPACK)}</script>
</body></html>
`.text;
}

/** Hashes for a policy of the page's two scripts: the one that unpacks, and the one that it adds. */
export function scriptSums(): string {
	return script().sums;
}

export function builtScript(name: "page.js" | "watch.js"): string {
	const file = path.join(packageFolder, "dist", "page", name);
	try {
		return readFileSync(file, "utf8");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
		throw failure("unbuilt", { file });
	}
}

/** The place of a figure, about as high as the drawn one: JavaScript fills it. */
export function figureBlock(figure: Figure): Markup {
	const height = heightOf(figure, USUAL) + AROUND;
	return markup`<figure class="chart${isNarrow(figure) && " narrow"}" id="figure-${figure.id}" data-figure="${figure.id}" style="min-height:${height}px"></figure>
`;
}

// --- internal ---

const USUAL = { theme: "light", width: 1100, off: new Set<string>(), logarithmic: null } as const;
/** Pixels of title and tools. */
const AROUND = 160;

/** Unpacks the page's data and starts its script. If the browser cannot, the page stays as without JavaScript. */
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

/** Read, packed and hashed once, because `--watch` renders a page after each run. */
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
