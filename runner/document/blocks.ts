import type { Figure } from "../chart/figure.ts";
import type { Verdict } from "../model/verdict.ts";
import { type Amount, type Column as ColumnOf, cellsOf, show } from "../result/show.ts";

/**
 * What a document is made of, as plain data: builders say it once, and terminal, Markdown and page render it. A block says what is told,
 * never how it looks; `depth` is the least medium that has room for it.
 */
export interface Document {
	readonly title: string;
	/** How it came out: colour, and word; "": nothing was judged. */
	readonly look: Look;
	readonly word: string;
	/** What that means, in a sentence. */
	readonly lead: string;
	/** What it is about: which machines, when. */
	readonly head: readonly Block[];
	/** What a reader sees first; on a terminal, which is read from its end, last. */
	readonly answer: readonly Block[];
	readonly sections: readonly Block[];
	/** What marks mean, and where there is more. */
	readonly foot: readonly Block[];
	/** Where all of it is, for media that have less room than there is to tell. */
	readonly whole: Inline;
	/** Links to parts of a long page; empty: it is short. */
	readonly contents: readonly { readonly to: string; readonly text: string }[];
	/** Every picture that `Figures` name; made for a page only. */
	readonly figures: () => readonly Figure[];
	/** Names that keep their first letter where a sentence begins with them. */
	readonly names: readonly string[];
}

/** A document has these, or not. */
export const NOTHING = { head: [], answer: [], foot: [], whole: "", contents: [], names: [] };

/** The least medium that shows it: 1 terminal, 2 Markdown, 3 page. Left out: 1. */
export type Depth = 1 | 2 | 3;

/** How a verdict looks: its colour. */
export type Look = Verdict | "unknown" | "ok" | "warn";

/** A part of a line. A string is plain text, escaped by whoever renders it; a number stays one until then. */
export type Piece =
	| string
	| Amount
	/** aside: small print beside a value, for which a terminal has no room. alert: a count that is to be none. */
	| { readonly as: "code" | "strong" | "aside" | "alert"; readonly text: string }
	| { readonly as: "badge"; readonly look: Look; readonly text: string }
	/** "#id" within the page; Markdown and terminal have its text alone. */
	| { readonly as: "link"; readonly to: string; readonly text: string }
	/** The colour that a system has in charts, by its number. */
	| { readonly as: "dot"; readonly color: number }
	/** Values at even distances, logarithmic; null: a gap. */
	| { readonly as: "line"; readonly values: readonly (number | null)[] };
export type Inline = Piece | readonly Piece[];

interface Shown {
	readonly depth?: Depth | undefined;
	/** The roomiest medium that shows it; left out: the page. */
	readonly until?: Depth | undefined;
}

export interface Heading extends Shown {
	readonly kind: "heading";
	readonly text: string;
	readonly id?: string | undefined;
}

/** A sentence without its full stop; "": nothing. Those of one tone below each other are a paragraph of Markdown. */
export interface Text extends Shown {
	readonly kind: "text";
	readonly text: Inline;
	readonly tone?: "lead" | "soft" | "small" | "code" | Look | undefined;
}

export interface Table extends Shown {
	readonly kind: "table";
	readonly columns: readonly Column[];
	readonly rows: readonly Row[];
	/** turned: a wide terminal has its columns below each other. row: one row of names and values. facts: names and what is known of them. */
	readonly look?: "turned" | "gates" | "facts" | "row" | "cards" | undefined;
	readonly id?: string | undefined;
}

export interface Column extends Shown {
	readonly name: Inline;
	/** Numbers stand to the right: those that begin with an amount, and words that are to. */
	readonly number?: boolean | undefined;
}

export interface Row extends Shown {
	/** The first one names the row. */
	readonly cells: readonly Inline[];
	readonly id?: string | undefined;
}

export interface List extends Shown {
	readonly kind: "list";
	readonly items: readonly Item[];
	/** What is not told: "and 3 more: see the table". */
	readonly rest?: string | null | undefined;
}

export interface Item {
	readonly badge?: Look | undefined;
	readonly text: Inline;
	readonly more?: readonly string[] | undefined;
}

/** Pictures by their ids, or by what ids begin with: "cases" has "cases-response" too. */
export interface Figures extends Shown {
	readonly kind: "figures";
	readonly ids: readonly string[];
	readonly title?: string | undefined;
}

/** Blocks below a title: a section, or what is folded. Without a title its blocks alone, in a box where it has a badge. */
export interface Fold extends Shown {
	readonly kind: "fold";
	readonly title: string;
	readonly id?: string | undefined;
	readonly badge?: Look | undefined;
	/** The least medium that has it open; left out: none, but a terminal, which cannot fold. */
	readonly open?: Depth | undefined;
	readonly blocks: readonly Block[];
}

export type Block = Heading | Text | Table | List | Figures | Fold;

/** What a medium shows, without what is empty. */
export function at(blocks: readonly Block[], depth: Depth): Block[] {
	const isShown = (one: Shown) => (one.depth ?? 1) <= depth && depth <= (one.until ?? 3);
	return blocks.flatMap((block): Block[] => {
		if (!isShown(block)) return [];
		switch (block.kind) {
			case "text":
				return block.text === "" ? [] : [block];
			case "list":
				return block.items.length === 0 ? [] : [block];
			case "fold": {
				const own = at(block.blocks, depth);
				if (own.length === 0 || (block.title === "" && block.badge === undefined)) return own;
				return [{ ...block, blocks: own }];
			}
			case "table": {
				const keep = block.columns.map(isShown);
				const rows = block.rows
					.filter(isShown)
					.map((row) => ({ ...row, cells: row.cells.filter((_, i) => keep[i]) }));
				const columns = block.columns
					.filter((_, i) => keep[i])
					.map((column, i) => ({
						...column,
						number: column.number ?? rows.some(({ cells }) => amountIn(cells[i] ?? "") !== null),
					}));
				return [{ ...block, columns, rows }];
			}
			default:
				return [block];
		}
	});
}

export function piecesOf(text: Inline): readonly Piece[] {
	return Array.isArray(text) ? (text as readonly Piece[]) : [text as Piece];
}

/** Its words in a line, without small print. */
export function plain(text: Inline): string {
	return piecesOf(text).map(wordOf).join("").trim();
}

export function wordOf(piece: Piece): string {
	if (typeof piece === "string") return piece;
	if ("unit" in piece) return show(piece);
	return "text" in piece && piece.as !== "aside" ? piece.text : "";
}

/** The number that a cell begins with; null: it has none. */
export function amountIn(text: Inline): Amount | null {
	const [first] = piecesOf(text);
	return typeof first === "object" && "unit" in first ? first : null;
}

export function isPiece<K extends Kind>(piece: Piece | undefined, as: K): piece is Of<K> {
	return typeof piece === "object" && "as" in piece && piece.as === as;
}

type Kind = Extract<Piece, { as: string }>["as"];
type Of<K> = Extract<Piece, { as: K }>;

/** Makers of what is usual. Of null nothing is left. */
export function text(said: Inline | null, tone?: Text["tone"], depth?: Depth): Text {
	return { kind: "text", text: said ?? "", tone, depth };
}

export function heading(title: string, depth?: Depth, id?: string): Heading {
	return { kind: "heading", text: title, depth, id };
}

export function list(items: readonly Inline[], depth?: Depth): List {
	return { kind: "list", items: items.map((item) => ({ text: item })), depth };
}

export function table(
	columns: readonly (Column | string)[],
	rows: readonly (readonly Inline[] | Row)[],
	parts: Partial<Table> = {},
): Table {
	return {
		kind: "table",
		columns: columns.map((one) => (typeof one === "string" ? { name: one } : one)),
		rows: rows.map((row) => ("cells" in row ? row : { cells: row })),
		...parts,
	};
}

/** A row for each of `all`; of the columns the first `texts` are no numbers. */
export function tableOf<T>(
	all: readonly T[],
	columns: readonly ColumnOf<T>[],
	texts: number,
): Table {
	const names = columns.map(([name]) => name);
	const rows = all.map((row) => cellsOf(columns, row));
	return table([...names.slice(0, texts), ...numbers(names.slice(texts))], rows);
}

/** Columns of numbers. */
export function numbers(names: readonly string[], depth?: Depth): Column[] {
	return names.map((name) => ({ name, number: true, depth }));
}

export function fold(title: string, blocks: readonly Block[], parts: Partial<Fold> = {}): Fold {
	return { kind: "fold", title, blocks, ...parts };
}

/** A part of a document with a title, to which links lead. */
export function section(
	id: string,
	title: string,
	blocks: readonly Block[],
	parts: Partial<Fold> = {},
): Fold {
	return fold(title, blocks, { id, open: 1, ...parts });
}

/** Blocks for media with no more room than `until`. */
export function upTo(until: Depth, ...blocks: readonly Block[]): Block[] {
	return blocks.map((block) => ({ ...block, until }));
}

export function badge(look: Look, word: string = look.toUpperCase()): Piece {
	return { as: "badge", look, text: word };
}

export function aside(small: string): Piece {
	return { as: "aside", text: small };
}

export function alert(count: string): Piece {
	return { as: "alert", text: count };
}

export function code(shown: string): Piece {
	return { as: "code", text: shown };
}

export function link(shown: string, to: string): Piece {
	return { as: "link", to, text: shown };
}

/** Our own words: "with **strong** ones and `code`". Never of a text from outside. */
export function marked(words: string): Piece[] {
	return words.split(/(\*\*.+?\*\*|`.+?`)/).map((part) => {
		if (part.startsWith("**")) return { as: "strong", text: part.slice(2, -2) };
		return part.startsWith("`") ? code(part.slice(1, -1)) : part;
	});
}

/** Names and what is known of them; what is not known is left out. */
export function facts(rows: readonly (readonly [name: string, value: Inline | null])[]): Table {
	const known = rows.filter((row): row is readonly [string, Inline] => Boolean(row[1]));
	return table(["", ""], known, { look: "facts" });
}

/** Settings by their keys, folded; nothing where there are none. */
export function settings(name: string, values: Readonly<Record<string, string>>): Block[] {
	const all = Object.entries(values).map((entry) => code(entry.join("=")));
	return all.length === 0 ? [] : [fold(`${all.length} ${name}`, [list(all)])];
}

/**
 * Text that begins in lower case as a sentence. What is a name keeps its first letter: a system's ("nats, 1KiB: ..."), and whatever
 * is not plainly a word ("x: ...", "p99 ...").
 */
export function sentence(text: string, names: readonly string[] = []): string {
	const [word = ""] = /^[a-z]+(?= |$|[.,])/.exec(text) ?? [];
	const name = word === "" || names.some((n) => text.startsWith(n));
	const first = name ? text.charAt(0) : text.charAt(0).toUpperCase();
	return `${first}${text.slice(1)}${/[.!?:]$/.test(text) ? "" : "."}`;
}
