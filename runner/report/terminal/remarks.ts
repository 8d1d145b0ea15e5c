import type { Result } from "../../model/result.ts";
import { errorTexts, runTitle } from "../words.ts";
import type { Page } from "./text-page.ts";

/** Of many runs what decided them, and what checks found: each sentence once, with the runs it is of. */
export function remarkLines(result: Result, page: Page): string[] {
	// Remarks that differ by their figures alone are one, as nobody reads twenty of them.
	const found = new Map<string, { texts: Set<string>; runs: string[] }>();
	for (const run of result.runs) {
		const texts = [
			...(run.why === null ? [] : [run.why]),
			...run.validity
				.filter((c) => !["ok", "unknown"].includes(c.status))
				.filter((c) => c.detail !== run.why)
				.map((c) => `${c.status}: ${c.check}: ${c.detail}`),
			...run.notes.map((note) => `note: ${note}`),
			...errorTexts(run, 1),
		];
		for (const text of texts) {
			const alike = text.replaceAll(/\d+(?:[ .]\d+)*/g, "#");
			const one = found.get(alike) ?? { texts: new Set(), runs: [] };
			one.texts.add(text);
			one.runs.push(runTitle(run, result));
			found.set(alike, one);
		}
	}
	const lines = [...found.values()]
		.slice(0, MOST)
		.flatMap(({ texts, runs: [first = "", ...others] }) => {
			const [text = ""] = texts;
			const where =
				others.length === 0 ? first : `${first} and ${others.length} more`;
			const figures =
				texts.size > 1 ? " (figures of the first; all in report.html)" : "";
			return page.fold(`${where}: ${text}${figures}`, "  ", "");
		});
	const more = found.size - MOST;
	if (more > 0)
		lines.push(
			...page.fold(
				`and ${more} more ${more === 1 ? "remark" : "remarks"}: see report.html`,
			),
		);
	return lines;
}

// --- internal ---

const MOST = 8;
