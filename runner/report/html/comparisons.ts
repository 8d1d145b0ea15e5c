import type { Comparison } from "../../model/comparison.ts";
import type { Result } from "../../model/result.ts";
import { formatCount, formatDuration } from "../../units.ts";
import { intervalText, ratioOfText } from "../comparison/words.ts";
import { sentence } from "../sentence.ts";
import { type Markup, markup } from "./markup.ts";

/** Against the baseline: the ratio of each figure with its interval, and what follows from it. null: nothing was compared. */
export function comparisons({ comparisons: all }: Result): Markup | null {
	if (all.length === 0) return null;
	return markup`<section id="comparison"><div class="head"><h2>Compared with the baseline</h2></div>
<div class="wide"><table><thead><tr><th>system, case</th><th>figure</th><th>verdict</th><th class="n">baseline</th><th class="n">now</th><th class="n">ratio</th><th>why</th></tr></thead><tbody>
${all.map(
	(c) =>
		markup`<tr><th scope="row">${c.system}, ${c.case}</th><td>${c.metric}</td><td><span class="badge ${LOOKS[c.verdict]}">${c.verdict.toUpperCase()}</span>${!c.judged && markup`<small>shown only</small>`}</td>${side(c, c.a)}${side(c, c.b)}<td class="n">${ratioOfText(c)}<small>${interval(c)}</small></td><td>${sentence(c.why)}${c.advisory !== null && ` ${sentence(c.advisory)}`}</td></tr>
`,
)}</tbody></table></div>
<p class="soft"><small>Ratio: now / baseline, the median of the ratios of all pairs of runs (Hodges-Lehmann), with its exact interval. 1.1 is 10 % more.</small></p></section>`;
}

// --- internal ---

const LOOKS: Readonly<Record<Comparison["verdict"], string>> = {
	regressed: "fail",
	improved: "pass",
	same: "pass",
	inconclusive: "inconclusive",
};

function side({ unit }: Comparison, { median, runs, name }: Comparison["a"]) {
	const value =
		median === null
			? "n/a"
			: unit === "ns"
				? formatDuration(median)
				: `${formatCount(median)}/s`;
	return markup`<td class="n" title="${name}">${value}<small>of ${runs} ${runs === 1 ? "run" : "runs"}</small></td>`;
}

function interval(c: Comparison): string {
	if (c.confidence === null) return "too few runs for an interval";
	return `${intervalText(c)} ${Number((c.confidence * 100).toFixed(1))} %`;
}
