import { largestOf, smallestOf } from "../extremes.ts";
import { type LivePart, scriptSums } from "../page/html-page.ts";
import { type Markup, markup, Markup as Raw } from "../page/markup.ts";
import type { LiveRow } from "../run/live.ts";
import { tell } from "../text/tell.ts";
import { formatDuration } from "../units.ts";

/** The current seconds of the run that is under way, on top of the page. */
export interface Strip {
	/** Of the run; "": none has begun. */
	readonly title: string;
	/** What was said last, as of a build. */
	readonly doing: string;
	readonly rows: readonly LiveRow[];
	/** Runs that are over: the page below is their report. */
	readonly over: number;
	/** p99 of each second so far, ns; null: nothing came back. */
	readonly p99s: readonly (number | null)[];
}

export function stripMarkup({ title, doing, rows, over, p99s }: Strip): Markup {
	const row = ([label, parts]: LiveRow) =>
		markup`<tr><th scope="row">${label}</th><td>${parts.join(", ")}</td></tr>`;
	return markup`<div class="now"><div><p><b>${title === "" ? tell("watch-starting") : title}</b></p>
${rows.length > 0 ? markup`<table aria-label="Figures of this run"><tbody>${rows.map(row)}</tbody></table>` : doing !== title && markup`<p class="soft">${doing}</p>`}${over > 0 && markup`<p class="soft">${tell("watch-below", { runs: over })}</p>`}</div>
${chart(p99s.slice(-MOST_SECONDS))}</div>`;
}

/** What a page has around it: `watch.js` fills the strip. `version`: of the page, which is loaded again when there is a newer one. */
export function livePart(version: number): LivePart {
	return {
		head: markup`<style>${new Raw(STYLE)}</style><script defer src="watch.js"></script>`,
		top: markup`<aside id="live" class="box unknown" data-version="${version}" aria-label="${tell("watch-strip")}"><noscript><p class="warn">${tell("watch-needs-script")}</p></noscript><p id="news" class="warn" role="status" hidden></p><div id="strip"></div><p><button type="button" id="stop" hidden>Stop</button></p><dialog id="sure" aria-labelledby="sure-text"><p id="sure-text">${tell("watch-sure")}</p><p class="head"><button type="button" id="yes">Stop</button><button type="button" id="no" autofocus>Go on</button></p></dialog></aside>`,
	};
}

/** It talks to its server alone. The page's own scripts are allowed by their sums. */
export function watchPolicy(): string {
	return `default-src 'none'; script-src 'self' ${scriptSums()}; style-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}

// --- internal ---

const MOST_SECONDS = 120;

const STYLE = `#live{margin-top:1rem}dialog{border:1px solid var(--edge);border-radius:.6rem;background:var(--page);max-width:28rem}dialog::backdrop{background:var(--shade)}.now{display:flex;flex-wrap:wrap;gap:.4rem 2rem;align-items:end;color:var(--ink)}.now>div{flex:1 1 24rem;min-width:0}.now th,.now td{border:0;padding:.1rem .9rem .1rem 0;overflow-wrap:anywhere}.now th{width:6rem;font-weight:500;color:var(--soft)}.now figure{flex:0 1 20rem;margin:0;min-width:0}.now svg{display:block;width:100%;height:3.5rem}.now path{fill:none;stroke:var(--s0);stroke-width:1.5;vector-effect:non-scaling-stroke}`;

/** p99 by second, on a logarithmic scale of a factor of 4 at least: noise is not to look like a stall. */
function chart(p99s: readonly (number | null)[]): Markup | null {
	const known = p99s.filter((v) => v !== null);
	if (known.length < 2) return null;
	const [low, high] = [smallestOf(known), largestOf(known)];
	const log = (v: number) => Math.log(Math.max(1, v));
	const range = Math.max(log(high) - log(low), Math.log(4));
	const text = `p99 by second: ${formatDuration(low)} to ${formatDuration(high)}, last ${formatDuration(known.at(-1) ?? 0)}`;
	const line = p99s.flatMap((v, x) => {
		if (v === null) return [];
		const to = typeof p99s[x - 1] === "number" ? "L" : "M";
		return [`${to}${x} ${(38 - (36 * (log(v) - log(low))) / range).toFixed(1)}`];
	});
	return markup`<figure><svg viewBox="0 0 ${p99s.length - 1} 40" preserveAspectRatio="none" role="img" aria-label="${text}"><path d="${line.join("")}"/></svg><figcaption class="soft"><small>${text}</small></figcaption></figure>`;
}
