import * as now from "./blocks.ts";
import type * as old from "./old-blocks.ts";

/** Blocks of before as those of now, which pass as they are; gone when the last builder has moved. */
export function adapted(blocks: readonly (old.Block | old.Section | now.Block)[]): now.Block[] {
	return blocks.flatMap((block) => {
		if (!("kind" in block)) return shown(block.media, sectionOf(block));
		const media = "media" in block ? block.media : undefined;
		const one = blockOf(block);
		return Array.isArray(one) ? one.flatMap((b) => shown(media, b)) : shown(media, one);
	});
}

// --- internal ---

function shown(media: readonly old.Medium[] | undefined, block: now.Block): now.Block[] {
	if (media === undefined) return [block];
	const [t, m, p] = (["terminal", "markdown", "page"] as const).map((one) => media.includes(one));
	if (p) return t ? [block] : [{ ...block, depth: m ? 2 : 3 }];
	if (m) return [now.instead(3, [], [t ? block : { ...block, depth: 2 }])];
	return t ? [now.instead(2, [], [block])] : [];
}

function sectionOf({ id, title, verdict, run, blocks }: old.Section): now.Fold {
	return now.fold(title, adapted(blocks), {
		id,
		badge: verdict,
		note: run?.folded ?? undefined,
		open: run === undefined ? 1 : run.folded === null ? 3 : undefined,
	});
}

function blockOf(block: old.Block | now.Block): now.Block | now.Block[] {
	switch (block.kind) {
		case "paragraph":
			return block.texts.map((one) =>
				now.text(inline(one), block.tone === "plain" ? undefined : block.tone),
			);
		case "heading":
			return { ...block };
		case "list":
			return {
				...block,
				items: block.items.map((item) =>
					isItem(item) ? item : { text: inline(item as old.Text) },
				),
			} as now.List;
		case "table":
			return tableOf(block);
		case "verdicts":
			return {
				kind: "list",
				items: block.items.map(({ verdict, text, more }) => ({
					badge: verdict,
					text: inline(text),
					more,
				})),
				rest: block.rest,
			};
		case "counts":
			return now.table(
				block.items.map(({ name, media }) => ({ name, number: true, depth: depthOf(media) })),
				[
					block.items.map(({ text, note = "", alert }) => [
						alert ? { as: "alert", text } : text,
						now.aside(note),
					]),
				],
				{ look: "row" },
			);
		case "details":
			return now.fold(block.summary, adapted(block.blocks));
		default:
			return block;
	}
}

function depthOf(media: readonly old.Medium[] | undefined): now.Depth | undefined {
	if (media === undefined || media.includes("terminal")) return undefined;
	return media.includes("markdown") ? 2 : 3;
}

function isItem(item: unknown): item is now.Item {
	return (
		typeof item === "object" &&
		item !== null &&
		"text" in item &&
		!("kind" in item) &&
		!("as" in item)
	);
}

const LOOKS = {
	p: "turned",
	gates: "gates",
	checks: undefined,
	slow: "slow",
	facts: "facts",
} as const;

function tableOf(block: old.Table | now.Table): now.Table {
	const { columns, rows, caption, look } = block;
	return {
		kind: "table",
		depth: "depth" in block ? block.depth : undefined,
		id: "id" in block ? block.id : undefined,
		columns: columns.map((column) =>
			"media" in column || "mark" in column || "label" in column
				? {
						name: column.name,
						number: column.number,
						spare: column.spare,
						depth: depthOf(column.media),
						id: column.mark,
					}
				: (column as now.Column),
		),
		rows: rows.map((row) => ({
			depth: "media" in row ? depthOf(row.media) : (row as now.Row).depth,
			cells: row.cells.map(inline),
		})),
		caption,
		look:
			look !== undefined && look in LOOKS
				? LOOKS[look as keyof typeof LOOKS]
				: (look as now.Table["look"]),
	};
}

function inline(text: old.Text | now.Inline): now.Inline {
	return Array.isArray(text) ? text.map(pieceOf) : pieceOf(text as old.Piece);
}

function pieceOf(piece: old.Piece | now.Piece): now.Piece {
	if (typeof piece === "string" || "as" in piece || "unit" in piece) return piece;
	switch (piece.kind) {
		case "link":
			return piece.to === null ? piece.text : now.link(piece.text, `#${piece.to}`);
		case "shares":
			return { as: "bar", parts: piece.parts };
		case "settings":
			return piece.entries.map((one) => one.join("=")).join(", ");
		case "badge":
			return { as: "badge", look: piece.look, text: piece.text };
		default:
			return { as: piece.kind, text: piece.text };
	}
}
