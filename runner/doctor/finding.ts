import { styleText } from "node:util";
import type { TerminalLook } from "../terminal/look.ts";
import { wrap } from "../terminal/wrap.ts";
import type { Machine } from "./this-machine.ts";

/** ok; warn: expect a longer tail; bad: do not measure here; info: for those who wonder; unknown: could not be read. */
export type Verdict = keyof typeof COLOURS;

/** One line of `mqbench doctor`. */
export interface Finding {
	readonly check: string;
	readonly verdict: Verdict;
	/** What was found: "powersave", "2 of 8 cores". */
	readonly figure: string;
	/** What that means for a measurement, in one sentence. */
	readonly sentence: string;
	/** What to do; null when there is nothing to do. */
	readonly remedy: string | null;
}

/** What a check reads. Sentence and remedy left out: those of its row. */
export interface Reading {
	readonly verdict: Verdict;
	readonly figure: string;
	readonly sentence?: string;
	readonly remedy?: string;
}

/** A row of the table of checks. It may throw: what cannot be read is `unknown`. */
export interface Check {
	readonly name: string;
	/** It measures time, so nothing else may run beside it. */
	readonly alone?: true;
	/** null: it cannot be read. */
	read(machine: Machine): Promise<Reading | null> | Reading | null;
	/** A sentence for each verdict that it may have. */
	readonly means?: Readonly<Partial<Record<Verdict, string>>>;
	/** What to do where the verdict is warn or bad. */
	readonly remedy?: string;
}

/** The reading of a row as a finding. */
export function findingOf({ name, means = {}, remedy }: Check, read: Reading | null): Finding {
	const { verdict, figure, ...own } =
		read ?? ({ verdict: "unknown", figure: "unknown" } as Reading);
	const troubled = verdict === "warn" || verdict === "bad";
	return {
		check: name,
		verdict,
		figure,
		sentence: own.sentence ?? means[verdict] ?? "It cannot be read.",
		remedy: own.remedy ?? (troubled ? (remedy ?? null) : null),
	};
}

/** The findings for people, and what they come to. */
export function renderFindings(
	findings: readonly Finding[],
	{ columns, colour }: Pick<TerminalLook, "columns" | "colour">,
): string {
	const width = Math.max(40, columns);
	const indent = " ".repeat(FIRST);
	const lines = findings.flatMap(({ check, verdict, figure, sentence, remedy }) => {
		const word = verdict.padEnd(FIRST);
		const [first = "", ...rest] = wrap(`${check}: ${figure}. ${sentence}`, width, indent);
		const begin = colour ? styleText(COLOURS[verdict], word, { validateStream: false }) : word;
		const remedies = remedy?.split("\n").flatMap((line, i) => {
			const text = `${i === 0 ? "Remedy: " : ""}${line}`;
			return COMMAND.test(line) ? `${indent}  ${text}` : wrap(text, width, `${indent}  `);
		});
		return [begin + first.slice(FIRST), ...rest, ...(remedies ?? [])];
	});
	const counts = (["bad", "warn", "unknown"] as const).flatMap((verdict) => {
		const count = findings.filter((one) => one.verdict === verdict).length;
		return count === 0 ? [] : `${count} ${verdict}`;
	});
	const summary = `${MEANS[worst(findings)]}${counts.length > 0 ? ` (${counts.join(", ")})` : ""}`;
	return `${[...lines, "", ...wrap(summary, width)].join("\n")}\n`;
}

/** The worst of all, `info` and `unknown` aside: they say nothing against the machine. */
export function worst(findings: readonly Finding[]): keyof typeof MEANS {
	const is = (verdict: Verdict) => findings.some((one) => one.verdict === verdict);
	return is("bad") ? "bad" : is("warn") ? "warn" : "ok";
}

// --- internal ---

/** A remedy that is a command: to be copied, and so not wrapped. */
const COMMAND = /^(sudo|echo|npm) /;

/** Width of the verdict's column. */
const FIRST = "unknown".length + 2;

const COLOURS = { ok: "green", info: "cyan", unknown: "gray", warn: "yellow", bad: "red" } as const;

const MEANS = {
	ok: "This machine is fit for measuring.",
	warn: "You can measure here, but each warn above can make messages look slower than the broker is.",
	bad: "Do not measure here until what is bad is fixed.",
};
