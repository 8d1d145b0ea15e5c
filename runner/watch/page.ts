import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { failure } from "../errors.ts";
import { packageFolder } from "../package.ts";
import { pageScript } from "../report/charts/draw.ts";
import { markup, Markup as Raw } from "../report/page/markup.ts";
import { STYLE } from "../report/page/style.ts";
import { UNPACK } from "../report/page/unpack.ts";
import { tell } from "../text/tell.ts";

/** The scripts that the page loads beside it, as `npm run build` has made them (report/charts/bundle.ts). */
export const pageScripts: Readonly<Record<string, () => string>> = {
	"watch.js": () => built("watch.js"),
	"draw.js": () => built("draw.js"),
};

/** The page before anything has happened: client/main.ts fills it. */
export function livePage(): { readonly html: string; readonly policy: string } {
	return { html: HTML, policy: policy() };
}

// --- internal ---

function built(name: string): string {
	const file = path.join(packageFolder, "dist", "page", name);
	try {
		return readFileSync(file, "utf8");
	} catch {
		throw failure("unbuilt", { file });
	}
}

/** It talks to its server alone. In the end it turns into the report, whose scripts are allowed by their sums. */
function policy(): string {
	const sums = [pageScript(), UNPACK].map(
		(text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`,
	);
	return `default-src 'none'; script-src 'self' ${sums.join(" ")}; style-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}

/** What the page has beside what a report has. */
const LIVE_STYLE = `
header .badge{min-width:0}.live-line{display:flex;flex-wrap:wrap;gap:.3rem 1rem;align-items:center}
progress{width:100%;height:.55rem;margin:.7rem 0 .5rem;appearance:none;border:0;border-radius:.3rem;background:var(--line);overflow:hidden;accent-color:var(--link)}
progress::-webkit-progress-bar{background:var(--line);border-radius:.3rem}progress::-webkit-progress-value{background:var(--link);border-radius:.3rem}progress::-moz-progress-bar{background:var(--link)}
.figures th{width:6.5rem;font-weight:500;color:var(--soft)}.figures td span{display:inline-block;margin-right:1.1rem;max-width:100%}.figures td,.figures th,.done-runs td:last-child,.done-runs tbody th{overflow-wrap:anywhere}.figures td,.figures th{padding:.22rem .9rem .22rem 0}
figure.live svg{display:block;width:100%;height:auto}figure.live:empty{display:none}
.stop{border-color:var(--fail);color:var(--fail);font-weight:600}
ol.log{list-style:none;margin:0;padding:0;font-size:.9rem}ol.log li{padding:.2rem 0;border-bottom:1px solid var(--line);display:flex;gap:.9rem;white-space:pre-wrap}ol.log time{color:var(--soft);font-variant-numeric:tabular-nums;flex:none}
ol.log span{min-width:0;overflow-wrap:anywhere}
.running td,.running th{background:color-mix(in srgb,var(--on) 45%,transparent)}.waiting{color:var(--soft)}
dialog{border:1px solid var(--edge);border-radius:.6rem;background:var(--page);color:var(--ink);max-width:28rem;padding:1.1rem 1.3rem}dialog::backdrop{background:var(--shade)}dialog .tools{margin:1rem 0 0;font-size:1rem}
@media (max-width:44rem){.figures th{width:5rem}.done-runs thead{display:none}.done-runs tr{display:flex;flex-wrap:wrap;gap:0 1rem;padding:.5rem 0;border-bottom:1px solid var(--line)}.done-runs th,.done-runs td{border:0;padding:.1rem 0;text-align:left!important;background:none!important}.done-runs th:first-child,.done-runs td:last-child{flex-basis:100%}.done-runs td:empty{display:none}.done-runs td[data-l]::before{content:attr(data-l) " ";color:var(--soft);font-size:.85em}ol.log li{flex-wrap:wrap;gap:0 .9rem}}
`;

const HTML = markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer"><title>mqbench</title><style>${new Raw(STYLE + LIVE_STYLE)}</style></head><body>
<a class="skip" href="#main">Skip to the figures</a>
<header><div class="head"><h1 id="scenario">mqbench</h1><span id="state" class="badge unknown" role="status">CONNECTING</span></div>
<p class="soft" id="where"></p><button type="button" class="switch theme" aria-pressed="false" hidden>Dark</button></header>
<noscript><p class="warn">${tell("watch-needs-script")}</p></noscript>
<main id="main" tabindex="-1">
<section id="now"><div class="head"><h2 id="title"></h2><button type="button" class="stop" id="stop" hidden>Stop</button></div>
<p id="news" class="warn" role="status" hidden></p><p id="doing" class="soft" hidden></p>
<progress id="done" max="1" value="0" aria-label="Progress of this run" hidden></progress>
<table class="figures" aria-label="Figures of this run"><tbody id="figures"></tbody></table>
<figure class="chart live" id="seconds"></figure></section>
<section id="curves" hidden><h2>Curves so far</h2><div id="curve-list"></div></section>
<section id="runs" hidden><div class="head"><h2>Runs</h2><span class="soft" id="count"></span></div><div class="wide"><table class="done-runs"><thead><tr><th scope="col">run</th><th scope="col">verdict</th><th scope="col" class="n">p50</th><th scope="col" class="n">p99</th><th scope="col" class="n">throughput</th><th scope="col">why</th></tr></thead><tbody id="run-rows"></tbody></table></div></section>
<section id="said" hidden><h2>Log</h2><ol class="log" id="log"></ol></section>
</main>
<dialog id="sure" aria-labelledby="sure-text"><p id="sure-text">${tell("watch-sure")}</p><div class="tools"><button type="button" class="stop" id="yes">Stop</button><button type="button" id="no" autofocus>Go on</button></div></dialog>
<script type="module" src="watch.js"></script>
</body></html>
`.text;
