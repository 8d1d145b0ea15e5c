import type { Figure } from "../../chart/figure.ts";
import { SERIES } from "../../chart/theme.ts";
import {
	type Block,
	type Column,
	type Figures,
	type Fold,
	type Inline,
	type Item,
	isPiece,
	type List,
	type Piece,
	piecesOf,
	plain,
	sentence,
	type Table,
	type Text,
	wordOf,
} from "../../document/blocks.ts";
import { figureBlock } from "../../page/html-page.ts";
import { type Markup, markup } from "../../page/markup.ts";

export interface Writing {
	/** Names that keep their first letter at the beginning of a sentence. */
	readonly names: readonly string[];
	readonly figures: readonly Figure[];
}

/** `level` 2: sections. */
export function blocksMarkup(blocks: readonly Block[], writing: Writing, level = 3): Markup[] {
	return blocks.map(
		(block) => markup`${markupOf(block, writing, level)}
`,
	);
}

/** With a sign, because colour must not be the only difference. */
export function badgeMarkup(look: string, text = look.toUpperCase()): Markup {
	const sign = SIGNS[look];
	return markup`<span class="badge ${look}">${sign !== undefined && markup`<span aria-hidden="true">${sign}</span> `}${text}</span>`;
}

// --- internal ---

const SIGNS: Readonly<Record<string, string>> = {
	pass: "\u2713",
	ok: "\u2713",
	fail: "\u2717",
	error: "\u2717",
	invalid: "!",
	inconclusive: "?",
	interrupted: "\u2026",
	warn: "\u25d0",
};

function markupOf(block: Block, writing: Writing, level: number): Markup | null {
	switch (block.kind) {
		case "text":
			return textMarkup(block, writing);
		case "heading":
			return markup`<h3${block.id !== undefined && markup` id="${block.id}"`}>${block.text}</h3>`;
		case "list":
			return listMarkup(block, writing);
		case "table":
			return block.look === "row" ? rowMarkup(block) : tableMarkup(block);
		case "figures":
			return figuresMarkup(block, writing);
		case "fold":
			return foldMarkup(block, writing, level);
	}
}

function foldMarkup(block: Fold, writing: Writing, level: number): Markup {
	const { id, title, badge, open, blocks } = block;
	const word = badge !== undefined && badgeMarkup(badge);
	const content = blocksMarkup(blocks, writing, open !== undefined && title === "" ? level : 3);
	if (open === undefined)
		return id === undefined
			? markup`<details><summary>${title}${word !== false && markup` ${word}`}</summary>${content}</details>`
			: markup`<details class="run" id="${id}"><summary><span class="head"><b>${title}</b>${word}</span></summary>
${content}</details>`;
	if (title === "") return markup`<div class="box ${badge ?? "unknown"}">${content}</div>`;
	return markup`<section${id !== undefined && markup` id="${id}"`}><div class="head"><h${level}>${title}</h${level}>${word}${id !== undefined && markup`<a class="anchor" href="#${id}" aria-label="Link to: ${title}">#</a>`}</div>
${content}</section>`;
}

function figuresMarkup({ ids, title }: Figures, { figures }: Writing): Markup | null {
	const own = figures.filter(({ id }) => ids.some((of) => id === of || id.startsWith(`${of}-`)));
	return own.length === 0
		? null
		: markup`${title !== undefined && markup`<h3>${title}</h3>`}<div class="charts">${own.map(figureBlock)}</div>`;
}

function textMarkup({ text, tone }: Text, writing: Writing): Markup {
	if (tone === "code") return markup`<pre tabindex="0">${String(text)}</pre>`;
	const content = said(text, writing);
	if (tone === "small") return markup`<p class="soft"><small>${content}</small></p>`;
	return markup`<p${tone !== undefined && markup` class="${tone}"`}>${content}</p>`;
}

function listMarkup({ items, rest }: List, writing: Writing): Markup {
	const isBroken = items.some(({ badge }) => badge !== undefined);
	return markup`<ul${isBroken && markup` class="broken"`}>${items.map((item) => markup`<li>${itemMarkup(item, writing)}</li>`)}</ul>${rest ? markup`<p>${sentence(rest)}</p>` : null}`;
}

function itemMarkup({ badge, text, more = [] }: Item, writing: Writing): Markup {
	const first =
		badge === undefined ? said(text, writing) : markup`${badgeMarkup(badge)} ${inline(text)}.`;
	return markup`${first}${more.map((one) => markup`<br>${sentence(one, writing.names)}`)}`;
}

/** Pieces are a sentence already. */
function said(text: Inline, { names }: Writing): Markup {
	return typeof text === "string" ? markup`${sentence(text, names)}` : inline(text);
}

function inline(text: Inline): Markup {
	return markup`${piecesOf(text).map(pieceMarkup)}`;
}

function pieceMarkup(piece: Piece): Markup | string | null {
	if (typeof piece === "string" || "unit" in piece) return wordOf(piece);
	switch (piece.as) {
		case "code":
			return markup`<code>${piece.text}</code>`;
		case "strong":
			return markup`<b>${piece.text}</b>`;
		case "alert":
			return markup`<b class="fail">${piece.text}</b>`;
		case "aside":
			return piece.text === "" ? null : markup` <small>${piece.text}</small>`;
		case "badge":
			return badgeMarkup(piece.look, piece.text);
		case "link":
			return markup`<a href="${piece.to}">${piece.text}</a>`;
		case "dot":
			return markup`<i class="dot s${piece.color % SERIES.light.length}"></i> `;
		// A terminal's; a page has its charts.
		case "line":
			return null;
	}
}

function rowMarkup({ columns, rows }: Table): Markup {
	const cells = rows.flatMap(({ cells }) => cells);
	return markup`<dl class="counts">${cells.map((cell, i) => markup`<div${piecesOf(cell).some((piece) => isPiece(piece, "alert")) && markup` class="alert"`}><dt>${inline(columns[i]?.name ?? "")}</dt><dd>${inline(cell)}</dd></div>`)}</dl>`;
}

function tableMarkup({ columns, rows, look, id }: Table): Markup {
	const head = columns.some(({ name }) => name !== "");
	const name = look ?? id;
	const labelled = look === "gates" || look === "cards";
	const th = (column: Column) =>
		markup`<th scope="col"${column.number && markup` class="n"`}>${inline(column.name)}</th>`;
	return markup`<div class="wide"><table${name !== undefined && markup` class="${name}"`}>${
		head &&
		markup`<thead><tr>${columns.map((column) => (column.name === "" && look === "cards" ? markup`<td></td>` : th(column)))}</tr></thead>`
	}<tbody>
${rows.map(
	({
		cells: [name = "", ...cells],
	}) => markup`<tr><th scope="row">${inline(name)}</th>${cells.map((cell, i) => cellMarkup(cell, columns[i + 1], labelled))}</tr>
`,
)}</tbody></table></div>`;
}

function cellMarkup(cell: Inline, column: Column | undefined, labelled: boolean): Markup {
	return markup`<td${column?.number && markup` class="n"`}${labelled && markup` data-l="${plain(column?.name ?? "")}"`}>${inline(cell)}</td>`;
}
