import type { Run } from "../../model/result.ts";
import { formatDuration } from "../../units.ts";
import { type Markup, markup } from "./markup.ts";

const PARTS = ["queued", "lag", "service"] as const;

/** The slowest messages of a run, each split into what it waited for. */
export function slowest(run: Run): Markup | null {
	const [first] = run.slowest;
	if (first === undefined) return null;
	const partition = run.slowest.some((m) => m.partition !== null);
	const topics = run.load.topics > 1;
	return markup`<details><summary>The ${run.slowest.length === 1 ? "slowest message" : `${run.slowest.length} slowest messages`}, and what they waited for</summary>
<div class="wide"><table class="slow"><thead><tr><th class="n">due</th><th class="n">producer</th><th class="n">sequence</th>${topics && markup`<th class="n">topic</th>`}${partition && markup`<th class="n">partition</th>`}<th class="n">response</th>${PARTS.map((part) => markup`<th class="n ${part}-part">${part}</th>`)}<th>parts</th></tr></thead><tbody>
${run.slowest.map(
	(m) =>
		markup`<tr><td class="n">${seconds(m.intendedNs - run.load.warmupNs)}</td><td class="n">${m.producer}</td><td class="n">${m.sequence}</td>${topics && markup`<td class="n">${m.topic}</td>`}${partition && markup`<td class="n">${m.partition ?? "n/a"}</td>`}<td class="n">${formatDuration(m.responseNs)}</td>${PARTS.map((part) => markup`<td class="n">${formatDuration(m[`${part}Ns`])}</td>`)}<td class="bar">${bar(m, first.responseNs)}</td></tr>
`,
)}</tbody></table></div>
<p class="soft"><small>Due: seconds after the window opened. Response = queued (earlier sends blocked) + lag (the generator was late) + service (from the send call on).</small></p></details>`;
}

// --- internal ---

const WIDTH = 120;

function bar(m: Run["slowest"][number], longestNs: number): Markup {
	let from = 0;
	return markup`<svg viewBox="0 0 ${WIDTH} 10" preserveAspectRatio="none" aria-hidden="true">${PARTS.map(
		(part) => {
			const at = from;
			// Where clocks disagree a part may be more than the whole, which may be below 0.
			const share = longestNs > 0 ? m[`${part}Ns`] / longestNs : 0;
			const width = Math.max(0, Math.min(WIDTH - at, share * WIDTH));
			from += width;
			return width < 0.05
				? null
				: markup`<rect class="${part}-part" x="${at.toFixed(1)}" y="0" width="${width.toFixed(1)}" height="10"/>`;
		},
	)}</svg>`;
}

function seconds(ns: number): string {
	return `${(ns / 1e9).toFixed(3)}s`;
}
