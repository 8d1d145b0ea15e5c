import {
	alert,
	aside,
	badge,
	code,
	type Document,
	fold,
	heading,
	type Inline,
	link,
	list,
	section,
	type Table,
	table,
	text,
} from "../document/blocks.ts";

/** For tests: a document with every kind of block and piece, and the text in every place that is not ours to word. */
export function sinkOf(said: string): Document {
	const all: Inline = [
		said,
		code(said),
		{ as: "strong", text: said },
		aside(said),
		alert(said),
		badge("warn"),
		link(said, "#x"),
		{ as: "dot", color: 9 },
		{ value: 1e6, unit: "ns", weak: true },
	];
	const columns = [said, { name: said, number: true }, said];
	const rows = [
		[said, said, badge("pass")],
		[all, all, said],
	];
	const looks: Table["look"][] = [undefined, "turned", "gates", "facts", "cards"];
	const tones = [undefined, "lead", "soft", "small", "warn", "code"] as const;
	const blocks = [
		heading(said),
		...tones.map((tone) => text(said, tone)),
		text(all),
		list([said, all]),
		{
			kind: "list",
			items: [{ badge: "fail", text: all, more: [said] }],
			rest: said,
		} as const,
		...looks.map((look) => table(columns, rows, { look })),
		table(["lost", "sent"], [["12", alert("13")]], { look: "row" }),
		text(["p99  ", { as: "line", values: [1e3, null, 1e6, 2e6] }, "  1us to 2ms"]),
		fold(said, [text(said)]),
		fold("", [text(said)], { badge: "fail", open: 1 }),
	];
	return {
		title: said,
		look: "fail",
		word: "FAIL",
		lead: said,
		head: [text(said, "soft")],
		answer: blocks,
		sections: [
			section("x", said, blocks, { badge: "pass" }),
			fold(said, blocks, { id: "y", badge: "fail" }),
		],
		foot: [text(said)],
		whole: said,
		contents: [{ to: "x", text: said }],
		figures: () => [],
		names: [said],
	};
}
