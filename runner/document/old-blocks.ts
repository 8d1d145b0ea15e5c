import type { Verdict } from "../model/verdict.ts";
import type { Figures } from "./blocks.ts";

/**
 * What a report is made of, as plain data: builders of `document/` say it once, and terminal, Markdown and page render it. A block says
 * what is told, never how it looks; where one medium has no room for it, it names the media that have.
 */
export type Medium = "terminal" | "markdown" | "page";
export const PAGE: readonly Medium[] = ["page"];
export const FILES: readonly Medium[] = ["markdown", "page"];
export const TEXTS: readonly Medium[] = ["terminal", "markdown"];
export const TERMINAL: readonly Medium[] = ["terminal"];

/** How a verdict looks: its colour. */
export type Look = Verdict | "unknown" | "ok" | "warn";

/** A piece of a line; a string is plain text, escaped by whoever renders it. */
export type Piece =
	| string
	| { readonly kind: "code"; readonly text: string }
	| { readonly kind: "strong"; readonly text: string }
	/** Small print beside a value. A terminal has no room for it. */
	| { readonly kind: "aside"; readonly text: string }
	| { readonly kind: "badge"; readonly look: Look; readonly text: string }
	/** Into the page, by an id; elsewhere its text alone. */
	| { readonly kind: "link"; readonly to: string | null; readonly text: string }
	/** How a time is made up, as a bar: names and their shares of the width. */
	| { readonly kind: "shares"; readonly parts: readonly (readonly [name: string, share: number])[] }
	| {
			readonly kind: "settings";
			readonly entries: readonly (readonly [key: string, value: string])[];
	  };
export type Text = Piece | readonly Piece[];

interface Shown {
	/** Undefined: in all of them. */
	readonly media?: readonly Medium[] | undefined;
}

export interface Column extends Shown {
	readonly name: string;
	/** Numbers stand to the right. */
	readonly number?: boolean;
	/** Left out first where there is no room: 1 before 2. */
	readonly spare?: number | undefined;
	/** Class of its head on a page. */
	readonly mark?: string;
	/** A phone, which has no room for a head, says it in the cell. */
	readonly label?: boolean;
}

export interface Row extends Shown {
	/** The first one names the row. */
	readonly cells: readonly Text[];
}

/** Sentences without their full stop; the first letter as well is up to who renders them. */
export interface Paragraph extends Shown {
	readonly kind: "paragraph";
	readonly texts: readonly Text[];
	readonly tone: "plain" | "lead" | "soft" | "small" | Look;
}

export interface Table extends Shown {
	readonly kind: "table";
	readonly columns: readonly Column[];
	readonly rows: readonly Row[];
	/** Of which system, and where: on a page, where a table is looked at alone. */
	readonly caption?: string | undefined;
	/** Class on a page. */
	readonly look?: "p" | "gates" | "checks" | "slow" | "facts" | undefined;
	/** Wide terminals have its columns below each other. */
	readonly turned?: boolean | undefined;
	/** Part of a comment's room that it may take at most. */
	readonly share?: number | undefined;
}

/** What a verdict is of, one by one, with what there is to say of each. */
export interface Verdicts extends Shown {
	readonly kind: "verdicts";
	readonly items: readonly {
		readonly verdict: Verdict;
		readonly text: Text;
		readonly more: readonly string[];
	}[];
	/** What is not told: "and 3 more: see the table". */
	readonly rest: string | null;
}

export type Block =
	| Figures
	| Paragraph
	| Table
	| (Shown & { readonly kind: "heading"; readonly text: string; readonly id?: string })
	| (Shown & { readonly kind: "list"; readonly items: readonly Text[] })
	| Verdicts
	| (Shown & {
			readonly kind: "counts";
			readonly items: readonly (Shown & {
				readonly name: string;
				readonly text: string;
				/** Small print below: an interval, "of 30 000 sent". */
				readonly note?: string;
				readonly alert: boolean;
			})[];
	  })
	| (Shown & {
			readonly kind: "details";
			readonly summary: string;
			readonly blocks: readonly Block[];
	  });

/** A part of a report with a title, to which links lead. */
export interface Section extends Shown {
	readonly id: string;
	readonly title: string;
	readonly verdict?: Verdict;
	/** What the contents call it; undefined: they do not lead to it. */
	readonly contents?: string;
	/** One of several runs; "folded" with what to know of it at once. */
	readonly run?: { readonly folded: string | null; readonly system: string; readonly case: string };
	/** Below its title. */
	readonly blocks: readonly Block[];
}
