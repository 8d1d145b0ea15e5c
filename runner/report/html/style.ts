/**
 * The page's style. Colours are those of Okabe and Ito, which the colour-blind tell apart; curves differ in their dashes as
 * well. Contrast of text is at least 4.5:1 in both schemes.
 */
export const STYLE = `
:root{color-scheme:light dark;--page:#fff;--card:#f6f7f9;--ink:#1b1f24;--soft:#57606a;--line:#d8dee4;--grid:#e4e8ec;
--response:#0072b2;--service:#b85000;--ack:#00765a;--median:#0072b2;--max:#6e7781;--sent:#0072b2;--received:#b85000;
--pass:#00664d;--fail:#b3261e;--open:#7a5b00;--invalid:#8b2f7d}
@media (prefers-color-scheme:dark){:root{--page:#12161c;--card:#1a2028;--ink:#e6edf3;--soft:#9aa7b4;--line:#333d48;--grid:#28313b;
--response:#56b4e9;--service:#f0a13c;--ack:#2fc79f;--median:#56b4e9;--max:#9aa7b4;--sent:#56b4e9;--received:#f0a13c;
--pass:#3fcf9f;--fail:#ff8a80;--open:#e3b341;--invalid:#e39ad6}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1.5rem 1rem 4rem;max-width:60rem;background:var(--page);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
h1{font-size:1.7rem;line-height:1.2;margin:0 0 .3rem}
h2{font-size:1.3rem;margin:2.8rem 0 .3rem;padding-top:1.2rem;border-top:1px solid var(--line)}
h3{font-size:1rem;margin:1.8rem 0 .4rem}
p{margin:.3rem 0}.soft,small{color:var(--soft)}
.badge{display:inline-block;padding:.1em .55em;border:2px solid currentColor;border-radius:.4em;font-weight:700;font-size:.85em;letter-spacing:.03em;white-space:nowrap}
.pass,.ok{color:var(--pass)}.fail,.error{color:var(--fail)}.inconclusive,.interrupted,.warn{color:var(--open)}.unknown{color:var(--soft)}.invalid{color:var(--invalid)}
.head{display:flex;flex-wrap:wrap;gap:.4rem 1rem;align-items:center}
.head h1,.head h2{margin:0;border:0;padding:0}section>.head{margin-top:2.8rem;padding-top:1.4rem;border-top:1px solid var(--line)}
.lead{font-size:1.15rem;margin:.6rem 0}
.wide{overflow-x:auto;max-width:100%}p,h1,h2,summary{overflow-wrap:anywhere}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9rem;width:100%}
th,td{text-align:left;vertical-align:top;padding:.35rem .7rem .35rem 0;border-bottom:1px solid var(--line)}
th{font-weight:600}th code{white-space:nowrap}tbody th small{display:block;font-weight:400;font-size:.75rem}thead th{color:var(--soft);font-weight:500;font-size:.85rem}td.n,th.n{text-align:right;white-space:nowrap}
td.n small{display:block;font-size:.75rem}
dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(7.5rem,1fr));gap:.6rem 1rem;margin:.6rem 0}
dl div{background:var(--card);border-radius:.4rem;padding:.4rem .7rem}dt{color:var(--soft);font-size:.8rem}dd{margin:0;font-size:1.1rem;font-variant-numeric:tabular-nums}
.alert dd{color:var(--fail);font-weight:700}
figure{margin:.4rem 0}figure .wide svg{min-width:34rem}
svg{display:block;width:100%;height:auto;overflow:visible}
svg path{fill:none;stroke-width:2;stroke-linejoin:round}
svg .grid{stroke:var(--grid);stroke-width:1}
svg text{fill:var(--soft);font-size:12px}
svg .limit{stroke:var(--fail);stroke-width:1.5;stroke-dasharray:7 4}svg .flag{fill:var(--fail);stroke:none}svg .limit-label{fill:var(--fail)}
svg .warmup{fill:var(--card)}
svg .beyond{stroke-dasharray:1.5 4;stroke-linecap:round}
svg .response path{stroke:var(--response)}svg .response circle,svg .response .max{fill:var(--response)}
svg .service path{stroke:var(--service)}svg .service .curve{stroke-dasharray:9 3}svg .service circle,svg .service .max{fill:var(--service)}
svg .ack path{stroke:var(--ack)}svg .ack .curve{stroke-dasharray:3 3}svg .ack circle,svg .ack .max{fill:var(--ack)}
svg .last path{stroke:var(--received)}svg .last .curve{stroke-dasharray:6 3 1.5 3}svg .last circle,svg .last .max{fill:var(--received)}
svg .max{stroke:none}
svg .s0 path{stroke:#0072b2}svg .s1 path{stroke:#d55e00;stroke-dasharray:9 3}svg .s2 path{stroke:#009e73;stroke-dasharray:3 3}svg .s3 path{stroke:#cc79a7}
svg .s4 path{stroke:#e69f00;stroke-dasharray:9 3}svg .s5 path{stroke:#56b4e9;stroke-dasharray:3 3}svg .s6 path{stroke:#7a7a7a}svg .s7 path{stroke:#b3a100;stroke-dasharray:9 3}
caption{text-align:left;color:var(--soft);font-size:.8rem;padding-bottom:.2rem}h4{font-size:.95rem;margin:1.4rem 0 .3rem}
svg .median path{stroke:var(--median);stroke-dasharray:3 3}svg .median circle{fill:var(--median)}
svg .max-line path{stroke:var(--max);stroke-width:1.5;stroke-dasharray:9 3}svg .max-line circle{fill:var(--max)}
svg .hidden path{stroke:var(--invalid);stroke-width:1.5}svg .hidden text{fill:var(--invalid);font-weight:600}
svg .broker path{stroke:var(--received);stroke-dasharray:9 3}
svg .queued-part{fill:var(--invalid)}svg .lag-part{fill:var(--max)}svg .service-part{fill:var(--service)}
th.queued-part{color:var(--invalid)}th.lag-part{color:var(--max)}th.service-part{color:var(--service)}
.slow .bar{min-width:8rem;width:30%}.slow .bar svg{min-width:8rem;height:.7rem;margin-top:.35rem}
.checks small,.gates td small{display:block;font-size:.8rem}
svg .achieved path{stroke:var(--sent)}svg .received path{stroke:var(--received);stroke-width:4;stroke-opacity:.55}
figcaption{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;color:var(--soft);font-size:.85rem}
.key{display:inline-flex;align-items:center;gap:.4em}.key svg{width:26px;height:8px;flex:none}
.gates td:last-child{min-width:13rem}.gates td:not(:last-child){white-space:nowrap}
details{margin:.6rem 0}summary{cursor:pointer;color:var(--soft)}
code{font-size:.9em}
@media (max-width:40rem){.gates thead{display:none}.gates tr{display:flex;flex-wrap:wrap;gap:0 .9rem;padding:.4rem 0;border-bottom:1px solid var(--line)}.gates th,.gates td{border:0;padding:.1rem 0}.gates tbody th{flex-basis:100%}.gates td:last-child{flex-basis:100%}}
@media print{details{display:block}body{max-width:none}}
`;
