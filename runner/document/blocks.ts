import type { Figure } from "../chart/figure.ts";
import type { Verdict } from "../model/verdict.ts";
import { type Amount, type Column as ColumnOf, cellsOf, show } from "../result/show.ts";

/** Plain data that terminal, Markdown and page render: the content, never how it looks. */
export interface Document {
	readonly title: string;
	/** Colour and word of the outcome; "" if nothing was judged. */
	readonly look: Look;
	readonly word: string;
	readonly lead: string;
	readonly head: readonly Block[];
	/** First on a page; last on a terminal, which is read from its end. */
	readonly answer: readonly Block[];
	readonly sections: readonly Block[];
	/** Legend of the marks, and links to more. */
	readonly foot: readonly Block[];
	/** Where the whole report is, for media with less room. */
	readonly whole: Inline;
	readonly contents: readonly { readonly to: string; readonly text: string }[];
	/** The charts that `Figures` name; made only for a page. */
	readonly figures: () => readonly Figure[];
	/** Names that keep their first letter at the beginning of a sentence. */
	readonly names: readonly string[];
}

export const NOTHING = { head: [], answer: [], foot: [], whole: "", contents: [], names: [] };

/** The smallest medium that shows it: 1 terminal, 2 Markdown, 3 page. Default: 1. */
export type Depth = 1 | 2 | 3;

export type Look = Verdict | "unknown" | "ok" | "warn";

/** A string is plain text, which the renderer escapes; a number stays one until then. */
export type Piece =
	| string
	| Amount
	/** aside: small print, for which a terminal has no room. alert: a count that should be 0. */
	| { readonly as: "code" | "strong" | "aside" | "alert"; readonly text: string }
	| { readonly as: "badge"; readonly look: Look; readonly text: string }
	/** "#id" within the page; Markdown and terminal have only the text. */
	| { readonly as: "link"; readonly to: string; readonly text: string }
	/** A system's colour in charts, by number. */
	| { readonly as: "dot"; readonly color: number }
	/** Values at even distances, logarithmic; null is a gap. */
	| { readonly as: "line"; readonly values: readonly (number | null)[] };
export type Inline = Piece | readonly Piece[];

interface Shown {
	readonly depth?: Depth | undefined;
	/** The largest medium that shows it. Default: the page. */
	readonly until?: Depth | undefined;
}

interface Heading extends Shown {
	readonly kind: "heading";
	readonly text: string;
	readonly id?: string | undefined;
}

/** A sentence without its full stop. Neighbours of one tone are a paragraph of Markdown. */
export interface Text extends Shown {
	readonly kind: "text";
	readonly text: Inline;
	readonly tone?: "lead" | "soft" | "small" | "code" | Look | undefined;
}

export interface Table extends Shown {
	readonly kind: "table";
	readonly columns: readonly Column[];
	readonly rows: readonly Row[];
	/** turned: a wide terminal swaps rows and columns. row: one row of names and values. facts: names and their known values. */
	readonly look?: "turned" | "gates" | "facts" | "row" | "cards" | undefined;
	readonly id?: string | undefined;
}

export interface Column extends Shown {
	readonly name: Inline;
	/** Right-aligned. Default: a column with amounts. */
	readonly number?: boolean | undefined;
}

export interface Row extends Shown {
	/** The first one names the row. */
	readonly cells: readonly Inline[];
}

export interface List extends Shown {
	readonly kind: "list";
	readonly items: readonly Item[];
	/** "and 3 more: see the table" */
	readonly rest?: string | null | undefined;
}

export interface Item {
	readonly badge?: Look | undefined;
	readonly text: Inline;
	readonly more?: readonly string[] | undefined;
}

/** By id or its beginning: "cases" includes "cases-response". */
export interface Figures extends Shown {
	readonly kind: "figures";
	readonly ids: readonly string[];
	readonly title?: string | undefined;
}

/** A section, or folded text. Without a title it is only its blocks, in a box if it has a badge. */
export interface Fold extends Shown {
	readonly kind: "fold";
	readonly title: string;
	readonly id?: string | undefined;
	readonly badge?: Look | undefined;
	/** The smallest medium that shows it open. A terminal cannot fold. */
	readonly open?: Depth | undefined;
	readonly blocks: readonly Block[];
}

export type Block = Heading | Text | Table | List | Figures | Fold;

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

/** One line, without small print. */
export function plain(text: Inline): string {
	return piecesOf(text).map(wordOf).join("").trim();
}

export function wordOf(piece: Piece): string {
	if (typeof piece === "string") return piece;
	if ("unit" in piece) return show(piece);
	return "text" in piece && piece.as !== "aside" ? piece.text : "";
}

export function amountIn(text: Inline): Amount | null {
	const [first] = piecesOf(text);
	return typeof first === "object" && "unit" in first ? first : null;
}

export function isPiece<K extends Kind>(piece: Piece | undefined, as: K): piece is Of<K> {
	return typeof piece === "object" && "as" in piece && piece.as === as;
}

type Kind = Extract<Piece, { as: string }>["as"];
type Of<K> = Extract<Piece, { as: K }>;

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

/** The first `texts` columns are not numbers. */
export function tableOf<T>(all: readonly T[], columns: readonly ColumnOf<T>[], texts: number) {
	const names = columns.map(([name]) => name);
	const rows = all.map((row) => cellsOf(columns, row));
	return table([...names.slice(0, texts), ...numbers(names.slice(texts))], rows);
}

export function numbers(names: readonly string[], depth?: Depth): Column[] {
	return names.map((name) => ({ name, number: true, depth }));
}

export function fold(title: string, blocks: readonly Block[], parts: Partial<Fold> = {}): Fold {
	return { kind: "fold", title, blocks, ...parts };
}

export function section(
	id: string,
	title: string,
	blocks: readonly Block[],
	parts: Partial<Fold> = {},
): Fold {
	return fold(title, blocks, { id, open: 1, ...parts });
}

/** For media with no more room than `until`. */
export function upTo(until: Depth, ...blocks: readonly Block[]): Block[] {
	return blocks.map((block) => ({ ...block, until }));
}

export function badge(look: Look, word: string = look.toUpperCase()): Piece {
	return { as: "badge", look, text: word };
}

const pieceOf =
	(as: "aside" | "alert" | "code") =>
	(text: string): Piece => ({ as, text });
export const [aside, alert, code] = [pieceOf("aside"), pieceOf("alert"), pieceOf("code")];

export function link(shown: string, to: string): Piece {
	return { as: "link", to, text: shown };
}

/** "with **strong** ones and `code`" in our own words. Never for text from outside. */
export function marked(words: string): Piece[] {
	return words.split(/(\*\*.+?\*\*|`.+?`)/).map((part) => {
		if (part.startsWith("**")) return { as: "strong", text: part.slice(2, -2) };
		return part.startsWith("`") ? code(part.slice(1, -1)) : part;
	});
}

export function facts(rows: readonly (readonly [name: string, value: Inline | null])[]): Table {
	const known = rows.filter((row): row is readonly [string, Inline] => Boolean(row[1]));
	return table(["", ""], known, { look: "facts" });
}

export function settings(name: string, values: Readonly<Record<string, string>>): Block[] {
	const all = Object.entries(values).map((entry) => code(entry.join("=")));
	return all.length === 0 ? [] : [fold(`${all.length} ${name}`, [list(all)])];
}

/** Capital and full stop. Names ("nats, 1KiB: ...") and anything else than a plain word ("x: ...", "p99 ...") keep their first letter. */
export function sentence(text: string, names: readonly string[] = []): string {
	const [word = ""] = /^[a-z]+(?= (?!p\d|[<=>])|$|[.,](?!\w))/.exec(text) ?? [];
	const name = word === "" || names.some((n) => text.startsWith(n));
	const first = name ? text.charAt(0) : text.charAt(0).toUpperCase();
	return `${first}${text.slice(1)}${/[.!?:]$/.test(text) ? "" : "."}`;
}
