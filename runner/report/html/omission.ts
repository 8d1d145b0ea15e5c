import type { Run } from "../../model/result.ts";
import { formatDuration } from "../../units.ts";
import { behindText, hiddenText } from "../omission.ts";
import { percentileName } from "../words.ts";
import { type Markup, markup } from "./markup.ts";

/** What counting from the actual send would have hidden: one sentence, and the numbers folded. Empty where there is no difference. `table`: with the numbers, which the table of percentiles has as well. */
export function omission(run: Run, table: boolean): Markup | null {
	const texts = [hiddenText(run), behindText(run)].filter((t) => t !== null);
	if (texts.length === 0 || run.omission === null) return null;
	const rows = run.omission.percentiles.filter((x) => x.factor !== null);
	return markup`<h3>What a closed loop would have hidden</h3>
${texts.map((text) => markup`<p>${text}.</p>`)}
${
	table &&
	markup`<details><summary>Response against service, by percentile</summary><div class="wide"><table><thead><tr><th>percentile</th><th class="n">response</th><th class="n">service</th><th class="n">difference</th><th class="n">factor</th></tr></thead><tbody>
${rows.map(
	(x) =>
		markup`<tr><th scope="row">${percentileName(x.p)}</th><td class="n">${formatDuration(x.response ?? 0)}</td><td class="n">${formatDuration(x.service ?? 0)}</td><td class="n">${formatDuration(x.difference ?? 0)}</td><td class="n">${factorText(x.factor ?? 0)}</td></tr>
`,
)}</tbody></table></div></details>`
}`;
}

/** "1 020x", "1.1x" */
export function factorText(factor: number): string {
	return `${factor >= 100 ? Math.round(factor) : Number(factor.toPrecision(2))}x`;
}
