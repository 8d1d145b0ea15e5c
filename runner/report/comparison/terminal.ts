import type { Outcome } from "../../compare/comparing.ts";
import {
	type Comparing,
	missingOf,
	type Other,
} from "../../compare/comparing.ts";
import { plainAll } from "../../terminal/columns.ts";
import {
	grid,
	listed,
	makePage,
	type Page,
	type PageOptions,
} from "../terminal/text-page.ts";
import {
	advisories,
	baselineText,
	explained,
	groupsOf,
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

/** The comparison as it is printed; its last line is the outcome. */
export function renderComparing(
	given: Comparing,
	options: PageOptions,
): string {
	const comparing = plainAll(given);
	const page = makePage(options);
	const { a, others, outcome, summary } = comparing;
	const lines = [
		...page.fold(
			`A  ${a.path}: ${baselineText(a.baseline)} (the baseline)`,
			"   ",
			"",
		),
		...others.flatMap((other) =>
			other.path === a.path
				? []
				: page.fold(
						`${other.letter}  ${other.path}: ${baselineText(other.baseline)}`,
						"   ",
						"",
					),
		),
		...page.fold(`   ${machineText(a.baseline)}`, "   ", ""),
		"",
		...others.flatMap((other) => otherLines(other, comparing, page)),
		...page.fold(`${word(outcome, page)}  ${summary}.`, "  ", ""),
	];
	return `${lines.join("\n")}\n`;
}

// --- internal ---

function otherLines(other: Other, comparing: Comparing, page: Page): string[] {
	const { comparisons, notCompared, differences, letter } = other;
	const missing = new Set(missingOf(other));
	const [one, two] = comparing.systems ?? ["A", letter];
	return [
		...(differences.length > 0
			? page.fold(`${two} is not like ${one} in:`, "  ", "")
			: []),
		...differences
			.slice(0, MOST_DIFFERENCES)
			.flatMap(({ what, a, b }) =>
				page.fold(`${what}: ${b}, was ${a}`, "    ", "  "),
			),
		...(differences.length > MOST_DIFFERENCES
			? [
					`  and ${differences.length - MOST_DIFFERENCES} more: see --html or --json`,
				]
			: []),
		...(differences.length > 0 ? [""] : []),
		...groupsOf(comparisons).flatMap((group) => [
			...page
				.fold(
					`${group.title}${comparing.others.length > 1 ? `: ${letter} against A` : ""}`,
				)
				.map((line) => page.style("bold", line)),
			...tableLines(group.comparisons, page),
			...explained(group.comparisons).flatMap((text) =>
				page.fold(text, "    ", "  "),
			),
			...marginNotes(group.comparisons).flatMap((text) =>
				page.fold(text, "    ", "  "),
			),
			"",
		]),
		...advisories(comparisons).flatMap((text) => page.fold(text, "  ", "")),
		...notCompared.flatMap((one) =>
			page.fold(
				`${missing.has(one) ? "Not compared" : "Left out"}: ${one.system}, ${one.case}: ${one.why}`,
				"  ",
				"",
			),
		),
		...(notCompared.length > 0 || advisories(comparisons).length > 0
			? [""]
			: []),
	];
}

const MOST_DIFFERENCES = 8;

function tableLines(
	comparisons: Parameters<typeof groupsOf>[0],
	page: Page,
): string[] {
	const [first] = comparisons;
	if (first === undefined) return [];
	const head = (side: typeof first.a) =>
		sideHead(side, page.short(side.name, NAME));
	const table = [
		[
			"",
			head(first.a),
			head(first.b),
			"ratio",
			"interval",
			"margin",
			"verdict",
		],
		...comparisons.map((c) => [
			c.metric,
			sideText(c, c.a),
			sideText(c, c.b),
			ratioOfText(c),
			// In 80 columns every blank counts.
			intervalText(c).replace(", ", ","),
			marginText(c),
			verdictCell(c),
		]),
	];
	return grid(table, page) ?? grid(table, page, "") ?? listed(table, page);
}

/** Systems may have long names; the titles have them whole. */
const NAME = 12;

const LOOKS: Readonly<Record<Outcome, Parameters<Page["badge"]>[0]>> = {
	regressed: "fail",
	inconclusive: "inconclusive",
	advisory: "inconclusive",
	nothing: "error",
	improved: "pass",
	same: "pass",
};

function word(outcome: Outcome, page: Page): string {
	return page.badge(LOOKS[outcome], outcomeWord(outcome));
}
