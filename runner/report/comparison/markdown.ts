import type { Comparing, Other } from "../../compare/comparing.ts";
import type { Comparison } from "../../model/comparison.ts";
import { escaped } from "../markdown.ts";
import { sentence } from "../sentence.ts";
import {
	advisories,
	baselineText,
	explained,
	groupsOf,
	HOW,
	intervalText,
	machineText,
	marginNotes,
	marginText,
	outcomeWord,
	ratioOfText,
	sideHead,
	sideText,
	verdictCell,
} from "./words.ts";

/** The comparison for a pull request: what decides in tables, the reasons below them, the rest folded. */
export function comparingMarkdown(comparing: Comparing): string {
	const { a, others, outcome, summary } = comparing;
	const parts = [
		`## Compared with the baseline: ${outcomeWord(outcome)}`,
		`**${sentence(summary)}**`,
		[
			`- A, the baseline: ${escaped(`${a.path}: ${baselineText(a.baseline)}; ${machineText(a.baseline)}`)}`,
			...others
				.filter((other) => other.path !== a.path)
				.map(
					(other) =>
						`- ${other.letter}: ${escaped(`${other.path}: ${baselineText(other.baseline)}; ${machineText(other.baseline)}`)}`,
				),
		].join("\n"),
		...others.flatMap((other) => sectionsOf(other, comparing)),
		`<sub>${HOW}</sub>`,
	];
	return `${parts.join("\n\n")}\n`;
}

// --- internal ---

function sectionsOf(other: Other, comparing: Comparing): string[] {
	const { comparisons, notCompared, differences, letter } = other;
	const remarks = [
		...advisories(comparisons),
		...notCompared.map((n) => `${n.system}, ${n.case}: ${n.why}`),
	];
	return [
		...groupsOf(comparisons).flatMap((group) => {
			const [first] = group.comparisons as [Comparison];
			return [
				`### ${escaped(group.title)}${comparing.others.length > 1 ? `: ${letter} against A` : ""}`,
				table(
					[
						"",
						sideHead(first.a),
						sideHead(first.b),
						"ratio",
						"interval",
						"margin",
						"verdict",
					],
					group.comparisons.map((c) => [
						escaped(c.metric),
						escaped(sideText(c, c.a)),
						escaped(sideText(c, c.b)),
						ratioOfText(c),
						escaped(intervalText(c)),
						`${marginText(c)}`,
						c.judged ? `**${verdictCell(c)}**` : verdictCell(c),
					]),
				),
				list([
					...explained(group.comparisons),
					...marginNotes(group.comparisons),
				]),
			];
		}),
		list(remarks),
		...(differences.length === 0
			? []
			: [
					`<details><summary>What differs between ${comparing.systems === null ? `A and ${letter}` : "the two systems"}</summary>\n\n${table(
						[
							"",
							comparing.systems?.[0] ?? "A",
							comparing.systems?.[1] ?? letter,
						],
						differences.map((d) => [
							escaped(d.what),
							escaped(d.a),
							escaped(d.b),
						]),
					)}\n\n</details>`,
				]),
	].filter((text) => text !== "");
}

function list(texts: readonly string[]): string {
	return texts.map((text) => `- ${escaped(text)}.`).join("\n");
}

/** Cells are markdown already, the head is not. */
function table(
	head: readonly string[],
	rows: readonly (readonly string[])[],
): string {
	const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
	return [
		line(head.map(escaped)),
		line(head.map(() => "---")),
		...rows.map(line),
	].join("\n");
}
