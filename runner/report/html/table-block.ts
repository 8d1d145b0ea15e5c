import type { FailoverTable } from "../failover-table.ts";
import { sentence } from "../sentence.ts";
import { type Markup, markup } from "./markup.ts";

/** A table of words with sentences below it; `caption` says of which system, and where. The first `texts` columns are no numbers. */
export function tableBlock(
	{ head, rows, notes, meaning }: FailoverTable,
	{
		caption,
		texts = 1,
	}: { readonly caption?: string; readonly texts?: number },
): Markup {
	const cell = (text: string, i: number) =>
		i === 0
			? markup`<th scope="row">${text}</th>`
			: i < texts
				? markup`<td>${text}</td>`
				: markup`<td class="n">${text}</td>`;
	return markup`<div class="wide"><table>${caption !== undefined && markup`<caption>${caption}</caption>`}<thead><tr>${head.map((name, i) => (i < texts ? markup`<th>${name}</th>` : markup`<th class="n">${name}</th>`))}</tr></thead><tbody>
${rows.map(
	(row) => markup`<tr>${row.map(cell)}</tr>
`,
)}</tbody></table></div>
${[...notes, ...meaning].map((note) => markup`<p class="soft"><small>${sentence(note)}</small></p>`)}`;
}
