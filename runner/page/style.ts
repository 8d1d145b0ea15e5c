import { COLOURS, SERIES } from "../chart/theme.ts";

const LIGHT = `--page:#fff;--card:#f5f7fa;--on:#e3eefb;--ink:#1a1f26;--soft:#566070;--line:#d9dfe6;--edge:#8a95a3;--shade:rgba(20,30,45,.22);--link:#0b5cad;--focus:#0b5cad;
${SERIES.light.map((colour, i) => `--s${i}:${colour}`).join(";")};--grey:${COLOURS.light.grey};--pass:#00664d;--fail:#b3261e;--open:#7a5b00;--invalid:#8b2f7d`;
const DARK = `--page:#12161c;--card:#1a2029;--on:#17324f;--ink:#e6edf3;--soft:#a3afbc;--line:#303a46;--edge:#66727f;--shade:rgba(0,0,0,.6);--link:#79b8ff;--focus:#79b8ff;
${SERIES.dark.map((colour, i) => `--s${i}:${colour}`).join(";")};--grey:${COLOURS.dark.grey};--pass:#3fcf9f;--fail:#ff8a80;--open:#e3b341;--invalid:#e39ad6`;

/** Text has a contrast of at least 4.5:1 in both schemes, nothing depends only on colour, and paper is light with everything unfolded. */
export const STYLE = `
:root{color-scheme:light;${LIGHT}}
@media screen and (prefers-color-scheme:dark){:root{color-scheme:dark;${DARK}}}
*{box-sizing:border-box}[hidden]{display:none!important}
html{scroll-padding-top:1rem}
body{margin:0 auto;padding:0 1.25rem 3rem;max-width:76rem;background:var(--page);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
h1{font-size:1.9rem;line-height:1.2;margin:0;letter-spacing:-.01em}
h2{font-size:1.35rem;line-height:1.25;margin:0}
h3{font-size:1.05rem;margin:2rem 0 .5rem}
p{margin:.35rem 0}
.soft,small,figcaption small{color:var(--soft)}
a{color:var(--link)}
p,h1,h2,h3,summary,li,dd,figcaption{overflow-wrap:anywhere}
code,pre{font:.9em ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
pre{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.7rem .9rem;overflow-x:auto;margin:.5rem 0}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px;border-radius:.2rem}
main:focus{outline:none}
.skip{position:absolute;left:-999rem}
.skip:focus{left:1rem;top:.5rem;z-index:9;background:var(--page);padding:.5rem 1rem;border:1px solid var(--line)}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
header{padding:1.6rem 0 .4rem;position:relative}
footer{margin-top:3rem;padding-top:1rem;border-top:1px solid var(--line);font-size:.85rem}
.head{display:flex;flex-wrap:wrap;gap:.4rem 1rem;align-items:center}
.lead{font-size:1.2rem;margin:.7rem 0 .4rem}
main>section{margin-top:2.6rem;padding-top:1.5rem;border-top:1px solid var(--line)}
main>section:first-child{margin-top:1rem;padding-top:0;border:0}
.badge{display:inline-block;padding:.08em .55em;border:2px solid currentColor;border-radius:.4em;font-weight:700;font-size:.85em;letter-spacing:.03em;white-space:nowrap}
header .badge{font-size:1.05rem;white-space:normal}
.pass,.ok{color:var(--pass)}.fail,.error{color:var(--fail)}.inconclusive,.interrupted,.warn{color:var(--open)}.unknown{color:var(--soft)}.invalid{color:var(--invalid)}
.box{background:var(--card);border:1px solid var(--line);border-left:.35rem solid currentColor;border-radius:.5rem;padding:.7rem 1rem;margin:.8rem 0}
.box .lead,.box p,.box li{color:var(--ink)}.box .soft{color:var(--soft)}
ul.broken{margin:.6rem 0;padding:0;list-style:none}.broken li{margin:.7rem 0}.broken .badge{margin-right:.3em}
@media (min-width:44.01rem){nav.toc{position:sticky;top:0;z-index:2;background:var(--page);padding:.3rem 0}nav.toc details{max-height:45vh;overflow:auto}html{scroll-padding-top:3.2rem}}.anchor{text-decoration:none;opacity:.35;padding:0 .3rem}.anchor:hover,.anchor:focus-visible{opacity:1}nav.toc{margin:1.2rem 0}nav.toc ul{list-style:none;margin:.3rem 0;padding:0;display:flex;flex-wrap:wrap;gap:.3rem .4rem}
nav.toc a{display:inline-block;padding:.2rem .7rem;border:1px solid var(--line);border-radius:1rem;text-decoration:none;font-size:.9rem;overflow-wrap:anywhere}
nav.toc a:hover{background:var(--card)}
.wide{overflow-x:auto;max-width:100%;position:relative;
background:linear-gradient(to right,var(--page) 30%,transparent) 0 0/2.5rem 100% no-repeat local,linear-gradient(to left,var(--page) 30%,transparent) 100% 0/2.5rem 100% no-repeat local,linear-gradient(to right,var(--shade),transparent) 0 0/1rem 100% no-repeat scroll,linear-gradient(to left,var(--shade),transparent) 100% 0/1rem 100% no-repeat scroll}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9rem;width:100%}
th,td{text-align:left;vertical-align:top;padding:.38rem .9rem .38rem 0;border-bottom:1px solid var(--line)}
th{font-weight:600}thead th{color:var(--soft);font-weight:500;font-size:.85rem;vertical-align:bottom}
tbody th small,td small{display:block;font-weight:400;font-size:.78rem;white-space:nowrap}
td.n,th.n,.turned td,.turned thead th:not(:first-child),.numbers td,.numbers thead th:not(:first-child){text-align:right}td.n,.turned td,.numbers td,.numbers tbody th{white-space:nowrap}
td:last-child,th:last-child{padding-right:.2rem}
tbody tr:hover{background:color-mix(in srgb,var(--card) 60%,transparent)}
.numbers .wide{max-height:28rem;overflow:auto}.numbers thead th{position:sticky;top:0;background:var(--page)}
.numbers td.long{white-space:normal;min-width:24rem;text-align:left}
.facts th{width:13rem;font-weight:500;color:var(--soft)}.facts td{overflow-wrap:anywhere}
dl.counts{display:grid;grid-template-columns:repeat(auto-fill,minmax(8rem,1fr));gap:.5rem;margin:.6rem 0}
.counts div{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.4rem .7rem}
dt{color:var(--soft);font-size:.8rem}dd{margin:0;font-size:1.1rem;font-variant-numeric:tabular-nums}
.counts .alert{border-color:var(--fail);border-width:2px}.alert dd{color:var(--fail);font-weight:700}
details{margin:.7rem 0}summary{cursor:pointer;color:var(--link);width:fit-content;max-width:100%}
summary:hover{text-decoration:underline}
details.run{border:1px solid var(--line);border-radius:.6rem;margin:.6rem 0;padding:0 1rem}
details.run>summary{padding:.6rem 0;color:var(--ink);width:auto;list-style-position:outside;margin-left:1.1em}details.run[open]{padding-bottom:1rem}
details.run>summary .head{display:inline-flex}
.cards{width:auto}.cards th,.cards td{padding:.5rem .8rem .5rem 0;min-width:8.5rem;vertical-align:top}.cards thead th{color:var(--ink);font-weight:600;font-size:inherit}
.cards td a{color:var(--ink);font-weight:700;font-size:1.15rem;text-decoration:underline dotted 1px;text-underline-offset:.2em}.cards td a:hover{text-decoration-style:solid}.cards small{display:block;white-space:nowrap;font-variant-numeric:tabular-nums}.cards tbody th small{white-space:normal;max-width:14rem}
.cards .dot{display:inline-block;width:.7em;height:.7em;border-radius:50%;background:currentColor}
.anchor{-webkit-user-select:none;user-select:none}
.counts small{display:block;font-size:.75rem}
.gates td:last-child{min-width:16rem}.gates td:not(:last-child){white-space:nowrap}.gates th code{white-space:nowrap}
.results th,.results td{overflow-wrap:anywhere}.results small,.results td{white-space:normal}.results .badge,.results td:nth-child(3){white-space:nowrap}.results td b:not(:first-child)::before{content:"\\A";white-space:pre}.results td:nth-child(4){min-width:14rem}.results tbody th{min-width:9rem}
${SERIES.light.map((_, i) => `.s${i}{color:var(--s${i})}`).join("")}
figure.chart{margin:1rem 0 1.4rem;border:1px solid var(--line);border-radius:.6rem;padding:.8rem .9rem .5rem;background:var(--page)}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(34rem,100%),1fr));column-gap:1rem;align-items:start}.charts>*{grid-column:1/-1;min-width:0}.charts>.narrow:has(+.narrow),.charts>.narrow+.narrow{grid-column:auto}@media (min-width:80rem){main>section>.charts{margin-inline:calc((73.5rem - min(98rem,100vw - 4rem))/2)}}
figcaption small{display:block;font-size:.8rem}
.plot{position:relative;touch-action:pan-y;overflow-x:clip}
.plain figure{display:none}
.tools{display:flex;flex-wrap:wrap;gap:.35rem .9rem;align-items:center;margin:.5rem 0;font-size:.85rem}
.tools fieldset{border:0;margin:0;padding:0;display:flex;flex-wrap:wrap;gap:.25rem;align-items:center;min-width:0}
.tools .actions{display:flex;flex-wrap:wrap;gap:.35rem .9rem;align-items:center}.tools legend{float:left;padding:0;margin-right:.35rem;color:var(--soft)}
button{font:inherit;color:var(--ink);background:var(--card);border:1px solid var(--edge);border-radius:.4rem;padding:.15rem .6rem;min-height:1.9rem;cursor:pointer;display:inline-flex;gap:.4em;align-items:center;max-width:100%;overflow-wrap:anywhere;text-align:left}
button:hover{border-color:var(--ink)}button:disabled{color:var(--soft);cursor:default;border-color:var(--line)}
button[aria-pressed=true]{background:var(--on);border-color:var(--link)}
button.switch::before{content:"";flex:none;width:.8em;height:.8em;border:1.5px solid currentColor;border-radius:.2em}
button.switch[aria-pressed=true]::before{background:currentColor;box-shadow:inset 0 0 0 2px var(--on)}
button.switch[aria-pressed=false]{color:var(--soft)}
button svg{width:28px;height:10px;flex:none}
.canvas{height:100%;min-height:inherit;cursor:crosshair}
.tip:empty{display:none!important}.tip{background:var(--page)!important;color:var(--ink)!important;border:1px solid var(--edge)!important;border-radius:.4rem!important;box-shadow:0 2px 10px var(--shade)!important;padding:.4rem .6rem!important;font-size:.8rem!important;line-height:1.35;max-width:min(26rem,92vw);white-space:normal!important;font-variant-numeric:tabular-nums}
.tip table{font-size:inherit;width:auto}.tip td,.tip th{padding:.05rem .6rem .05rem 0;border:0;font-weight:400}.tip td{text-align:right;white-space:nowrap;padding-right:0}.tip svg{width:24px;height:9px;margin-right:.3em}.tip b{display:block}
@media (max-width:44rem){body{padding:0 .8rem 2rem}h1{font-size:1.5rem}.turned tbody th small,.turned td small{white-space:normal}.turned tbody th{min-width:5.5rem}.turned th,.turned td{padding-right:.6rem}.lead{font-size:1.08rem}figure.chart{padding:.6rem .4rem .3rem}
figcaption,.tools{padding:0 .3rem}button{min-height:2.2rem}
.gates thead{display:none}.gates tr{display:flex;flex-wrap:wrap;gap:0 .9rem;padding:.5rem 0;border-bottom:1px solid var(--line)}.gates th,.gates td{border:0;padding:.1rem 0}.gates tbody th{flex-basis:100%}.gates td:last-child{flex-basis:100%;min-width:0}.gates th code{white-space:normal}.gates td[data-l]::before{content:attr(data-l) " ";color:var(--soft);font-size:.85em}.gates td:empty{display:none}.gates td:not(:last-child){white-space:normal}
.cards,.cards tbody{display:block;width:100%}.cards thead{display:none}.cards tr{display:block;padding:.6rem 0;border-bottom:1px solid var(--line)}.cards th,.cards td{display:block;border:0;padding:.2rem 0}.cards td{position:relative;min-height:4.2rem}.cards td .badge{position:absolute;right:.2rem;top:.2rem}.cards td::before{content:attr(data-l);display:block;color:var(--soft);font-size:.8rem}.cards td{border-left:3px solid var(--line);padding-left:.6rem;margin:.4rem 0}
.results thead{display:none}.results tr{display:block;padding:.5rem 0;border-bottom:1px solid var(--line)}.results th,.results td{display:block;border:0;padding:.1rem 0}
.facts th{width:8rem}.counts dd{font-size:1rem}}
@media (prefers-reduced-motion:no-preference){html{scroll-behavior:smooth}button{transition:border-color .15s,background .15s}}
@media (forced-colors:active){button[aria-pressed=true]{border-width:3px}}
@media print{.gates td,.gates th code,.gates td:last-child{white-space:normal!important;min-width:0!important}th,td{padding-right:.5rem}html{font-size:11px}figcaption{display:none}body{max-width:none;padding:0;font-size:10.5pt}.tools,.skip,.tip,nav.toc,.anchor{display:none!important}
details.numbers:not([open]){display:none}.plot .canvas canvas{max-width:100%}
figure.chart,tr,.box,.counts div,li{break-inside:avoid}h2,h3,summary{break-after:avoid}details.run{break-before:auto}
figure.chart{border:0;padding:0}.wide,.numbers .wide{overflow:visible;max-height:none;background:none}table{font-size:8.5pt}a{color:inherit;text-decoration:none}.plot{min-height:0}}
`;
