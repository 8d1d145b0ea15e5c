import type {
	Block,
	Column,
	Look,
	Medium,
	Paragraph,
	Piece,
	Row,
	Section,
	Table,
	Text,
} from "./old-blocks.ts";

/** Makers of blocks, columns and pieces: what is usual need not be said. */

export function code(text: string): Piece {
	return { kind: "code", text };
}

export function aside(text: string): Piece {
	return { kind: "aside", text };
}

export function shares(parts: readonly (readonly [name: string, share: number])[]): Piece {
	return { kind: "shares", parts };
}

export function badge(look: Look, text: string = look.toUpperCase()): Piece {
	return { kind: "badge", look, text };
}

export function link(text: string, to: string | null): Piece {
	return { kind: "link", to, text };
}

export function heading(
	text: string,
	{ media, id }: { media?: readonly Medium[]; id?: string } = {},
): Block {
	return { kind: "heading", text, media, ...(id === undefined ? {} : { id }) };
}

/** Of null and "" nothing is left. */
export function paragraph(
	text: Text | null,
	tone: Paragraph["tone"] = "plain",
	media?: readonly Medium[],
): Paragraph {
	return sentences([text], tone, media);
}

/** Each of them stands for itself; Markdown joins them. */
export function sentences(
	texts: readonly (Text | null)[],
	tone: Paragraph["tone"] = "plain",
	media?: readonly Medium[],
): Paragraph {
	const said = texts.filter((text) => text !== null && text !== "");
	return {
		kind: "paragraph",
		texts: said as readonly Text[],
		tone,
		media: said.length === 0 ? NOWHERE : media,
	};
}

/** Of no item nothing is left. */
export function list(items: readonly Text[], media?: readonly Medium[]): Block {
	return { kind: "list", items, media: items.length === 0 ? NOWHERE : media };
}

/** Columns of numbers, shown in some media. */
export function numbers(names: readonly string[], media?: readonly Medium[]): Column[] {
	return names.map((name) => ({ name, number: true, media }));
}

export function table(
	columns: readonly (Column | string)[],
	rows: readonly (readonly Text[] | Row)[],
	parts: Partial<Table> = {},
): Table {
	return {
		kind: "table",
		columns: columns.map((one) => (typeof one === "string" ? { name: one } : one)),
		rows: rows.map((row) => ("cells" in row ? row : { cells: row })),
		...parts,
	};
}

/** Rows of words: of the columns `texts` at the start are no numbers. */
export function wordTable(
	head: readonly string[],
	rows: readonly (readonly Text[])[],
	{ texts = 1, ...parts }: { texts?: number } & Partial<Table> = {},
): Table {
	return table([...head.slice(0, texts), ...numbers(head.slice(texts))], rows, parts);
}

export function details(
	summary: string,
	blocks: readonly Block[],
	media?: readonly Medium[],
): Block {
	return { kind: "details", summary, blocks, media };
}

export function section(
	id: string,
	title: string,
	blocks: readonly Block[],
	parts: Partial<Section> = {},
): Section {
	return { id, title, blocks, ...parts };
}

// --- internal ---

const NOWHERE: readonly Medium[] = [];
