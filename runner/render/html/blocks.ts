import type { Figure } from "../../chart/old-figure.ts";
import {
	type Block,
	type Chart,
	type Column,
	type Piece,
	piecesOf,
	type Section,
	shownIn,
	type Table,
	type Text,
	tableIn,
} from "../../document/blocks.ts";
import { sentence } from "../../document/sentence.ts";
import { figureBlock } from "../../page/html-page.ts";
import { type Markup, markup } from "../../page/markup.ts";
import { matrixMarkup, provenanceMarkup } from "./answer.ts";
import { badgeMarkup } from "./badge.ts";

/** What a page is written with. */
export interface Writing {
	/** Names that keep their first letter where a sentence begins with them. */
	readonly names: readonly string[];
	/** The pictures of that name; several or none. */
	readonly figures: (chart: Chart) => readonly Figure[];
	/** Where what is folded is put by its id, of a page that has no room for it as it is: it is unpacked when it is opened. */
	readonly later?: Map<string, string>;
}

/** A section with its heading and id; a folded run with what to know of it at once. */
export function sectionMarkup(section: Section, writing: Writing): Markup {
	const { id, title, verdict, run, blocks } = section;
	const whole = blockMarkup(blocks, writing);
	const later = run?.folded == null ? undefined : writing.later;
	later?.set(id, markup`${whole}`.text);
	const content = later === undefined && whole;
	const word = verdict !== undefined && badgeMarkup(verdict);
	return run === undefined || run.folded === null
		? markup`<section${run !== undefined && markup` class="run"`} id="${id}"><div class="head"><h2>${title}</h2>${word}<a class="anchor" href="#${id}" aria-label="Link to: ${title}">#</a></div>
${content}</section>
`
		: markup`<details class="run"${later !== undefined && markup` data-later="${id}"`} id="${id}"><summary><span class="head"><b>${title}</b>${word}<span class="soft">${run.folded}</span></span></summary>
${content}</details>
`;
}

export function blockMarkup(blocks: readonly Block[], writing: Writing): Markup[] {
	return shownIn(blocks, "page").map(
		(block) => markup`${markupOf(block, writing)}
`,
	);
}

// --- internal ---

/** More settings are folded. */
const MOST_OPEN = 8;

function markupOf(block: Block, writing: Writing): Markup | null {
	switch (block.kind) {
		case "paragraph":
			return markup`${block.texts.map((text) => paragraphMarkup(text, block.tone, writing))}`;
		case "heading":
			return markup`<h3${block.id !== undefined && markup` id="${block.id}"`}>${block.text}</h3>`;
		case "list":
			return markup`<ul>${block.items.map((item) => markup`<li>${said(item, writing)}</li>`)}</ul>`;
		case "table":
			return tableMarkup(tableIn(block, "page"));
		case "verdicts":
			return markup`<ul class="broken">${block.items.map(
				({ verdict, text, more }) =>
					markup`<li>${badgeMarkup(verdict)} ${inline(text)}.${more.map((one) => markup`<br>${sentence(one, writing.names)}`)}</li>`,
			)}</ul>${block.rest !== null && markup`<p>${sentence(block.rest)}</p>`}`;
		case "counts":
			return markup`<dl class="counts">${shownIn(block.items, "page").map(({ name, text, note = "", alert }) => markup`<div${alert && markup` class="alert"`}><dt>${name}</dt><dd>${text}${note !== "" && markup` <small>${note}</small>`}</dd></div>`)}</dl>`;
		case "charts": {
			const figures = block.charts.flatMap(writing.figures);
			return figures.length === 0
				? null
				: markup`${block.title !== null && markup`<h3>${block.title}</h3>`}${figures.map((figure) => figureBlock(figure, { table: block.table }))}`;
		}
		case "details":
			return markup`<details><summary>${block.summary}</summary>${blockMarkup(block.blocks, writing)}</details>`;
		case "code":
			return markup`<pre tabindex="0">${block.text}</pre>`;
		case "matrix":
			return matrixMarkup(block);
		case "provenance":
			return provenanceMarkup(block);
		case "spark":
			return null;
	}
}

function paragraphMarkup(
	text: Text,
	tone: Extract<Block, { kind: "paragraph" }>["tone"],
	writing: Writing,
): Markup {
	const content = said(text, writing);
	if (tone === "small") return markup`<p class="soft"><small>${content}</small></p>`;
	return markup`<p${tone !== "plain" && markup` class="${tone}"`}>${content}</p>`;
}

/** Plain text as a sentence; what is made of pieces is one already. */
function said(text: Text, { names }: Writing): Markup {
	return typeof text === "string" ? markup`${sentence(text, names)}` : inline(text);
}

function inline(text: Text): Markup {
	return markup`${piecesOf(text).map(pieceMarkup)}`;
}

function pieceMarkup(piece: Piece): Markup | string | null {
	if (typeof piece === "string") return piece;
	switch (piece.kind) {
		case "code":
			return markup`<code>${piece.text}</code>`;
		case "strong":
			return markup`<b>${piece.text}</b>`;
		case "aside":
			return piece.text === "" ? null : markup` <small>${piece.text}</small>`;
		case "badge":
			return badgeMarkup(piece.look, piece.text);
		case "link":
			return piece.to === null ? piece.text : markup`<a href="#${piece.to}">${piece.text}</a>`;
		case "settings":
			return settingsMarkup(piece.entries);
		case "shares":
			return sharesMarkup(piece.parts);
	}
}

function tableMarkup({ columns, rows, caption, look }: Table): Markup {
	const head = columns.some(({ name }) => name !== "");
	const wide = look === "gates" ? "wide gates" : "wide";
	const inner = look === "gates" ? undefined : look;
	return markup`<div class="${wide}"><table${inner !== undefined && markup` class="${inner}"`}>${caption !== undefined && caption !== "" && markup`<caption>${caption}</caption>`}${
		head &&
		markup`<thead><tr>${columns.map((column) => markup`<th scope="col"${classOf(column)}>${column.name}</th>`)}</tr></thead>`
	}<tbody>
${rows.map(
	({
		cells: [name = "", ...cells],
	}) => markup`<tr><th scope="row">${inline(name)}</th>${cells.map((cell, i) => cellMarkup(cell, columns[i + 1]))}</tr>
`,
)}</tbody></table></div>`;
}

function classOf({ number, mark }: Column): Markup | null {
	const all = [number ? "n" : "", mark ?? ""].filter((name) => name !== "");
	return all.length === 0 ? null : markup` class="${all.join(" ")}"`;
}

function cellMarkup(cell: Text, column: Column | undefined): Markup {
	const bar = typeof cell === "object" && "kind" in cell && cell.kind === "shares";
	return markup`<td${bar ? markup` class="bar"` : (column?.number ?? false) && markup` class="n"`}${column?.label === true && markup` data-l="${column.name}"`}>${inline(cell)}</td>`;
}

function settingsMarkup(entries: readonly (readonly [key: string, value: string])[]): Markup {
	const list = markup`<ul class="settings">${entries.map(([key, value]) => markup`<li>${key}=${value}</li>`)}</ul>`;
	return entries.length <= MOST_OPEN
		? list
		: markup`<details><summary>${entries.length} settings</summary>${list}</details>`;
}

const WIDTH = 120;

function sharesMarkup(parts: readonly (readonly [name: string, share: number])[]): Markup {
	let from = 0;
	return markup`<svg viewBox="0 0 ${WIDTH} 10" preserveAspectRatio="none" aria-hidden="true">${parts.map(
		([name, share]) => {
			const at = from;
			// Where clocks disagree a part may be more than the whole, which may be below 0.
			const width = Math.max(0, Math.min(WIDTH - at, share * WIDTH));
			from += width;
			return width < 0.05
				? null
				: markup`<rect class="${name}-part" x="${at.toFixed(1)}" y="0" width="${width.toFixed(1)}" height="10"/>`;
		},
	)}</svg>`;
}
