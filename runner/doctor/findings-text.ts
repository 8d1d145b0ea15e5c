import { styleText } from "node:util";
import { largestOf } from "../extremes.ts";
import { wrap } from "../terminal/wrap.ts";
import { type Finding, VERDICTS, type Verdict } from "./finding.ts";

interface TextOptions {
	readonly columns: number;
	readonly colour: boolean;
}

/** The findings for people, and what they come to. */
export function renderFindings(
	findings: readonly Finding[],
	{ columns, colour }: TextOptions,
): string {
	const width = Math.max(40, columns);
	const indent = " ".repeat(FIRST);
	const lines = findings.flatMap((one) => {
		const [first = "", ...rest] = wrap(
			`${one.check}: ${one.figure}. ${one.sentence}`,
			width,
			indent,
		);
		const word = one.verdict.padEnd(FIRST);
		return [
			`${colour ? styleText(COLOURS[one.verdict], word, { validateStream: false }) : word}${first.slice(FIRST)}`,
			...rest,
			...(one.remedy === null
				? []
				: one.remedy.split("\n").flatMap((line, i) => {
						const text = `${i === 0 ? "Remedy: " : ""}${line}`;
						return COMMAND.test(line) ? [`${indent}  ${text}`] : wrap(text, width, `${indent}  `);
					})),
		];
	});
	return `${[...lines, "", ...wrap(summary(findings), width)].join("\n")}\n`;
}

/** The worst of all, `info` and `unknown` aside: they say nothing against the machine. */
export function worst(findings: readonly Finding[]): "ok" | "warn" | "bad" {
	const is = (verdict: Verdict) => findings.some((one) => one.verdict === verdict);
	return is("bad") ? "bad" : is("warn") ? "warn" : "ok";
}

// --- internal ---

/** A remedy that is a command: to be copied, and so not wrapped. */
const COMMAND = /^(sudo|echo|npm) /;

/** Width of the verdict's column. */
const FIRST = largestOf(VERDICTS.map((verdict) => verdict.length)) + 2;

const COLOURS = {
	ok: "green",
	info: "cyan",
	unknown: "gray",
	warn: "yellow",
	bad: "red",
} as const satisfies Record<Verdict, unknown>;

const MEANS = {
	ok: "This machine is fit for measuring.",
	warn: "You can measure here, but each warn above can make messages look slower than the broker is.",
	bad: "Do not measure here until what is bad is fixed.",
};

function summary(findings: readonly Finding[]): string {
	const counts = (["bad", "warn", "unknown"] as const)
		.map((verdict) => ({
			verdict,
			count: findings.filter((one) => one.verdict === verdict).length,
		}))
		.filter(({ count }) => count > 0)
		.map(({ verdict, count }) => `${count} ${verdict}`);
	return `${MEANS[worst(findings)]}${counts.length > 0 ? ` (${counts.join(", ")})` : ""}`;
}
