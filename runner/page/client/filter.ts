import { markup } from "../markup.ts";

/**
 * The filter of an index, made from its table of results: rows that do not match are hidden, and trends of scenarios of which no row is left. On pages
 * without such a table it does nothing. A row matches when each word of the text stands somewhere in it, and it has what is chosen.
 */
export function filterOf(page: Document): void {
	const table = page.querySelector("table.results");
	if (table === null) return;
	const rows = [...table.querySelectorAll<HTMLElement>("tbody tr")].map((row) => ({
		row,
		text: (row.textContent ?? "").toLowerCase(),
		of: {
			Scenario: [row.querySelector("th")?.firstChild?.textContent?.trim() ?? ""].filter(Boolean),
			System: textsOf(row, "b"),
			Verdict: textsOf(row, ".badge").map((word) => word.replace(/^\W+|\s*\(.*$/g, "")),
		},
	}));
	const values = NAMES.map((name) =>
		[...new Set(rows.flatMap(({ of }) => of[name]))].sort((a, b) => a.localeCompare(b, "en")),
	);
	const bar = page.createElement("div");
	bar.className = "tools filter";
	bar.setAttribute("role", "search");
	bar.setAttribute("aria-label", "Results");
	bar.innerHTML = markup`<label>Text <input type="search" autocomplete="off"></label>${NAMES.map(
		(name, i) =>
			markup`<label>${name} <select><option value="">all</option>${values[i]?.map((value, at) => markup`<option value="${at}">${value}</option>`) ?? null}</select></label>`,
	)}<button type="button">All results</button><output></output>`.text;
	const [text, ...selects] = bar.querySelectorAll<HTMLInputElement>("input,select");
	const shown = bar.querySelector("output");

	const apply = () => {
		const words = (text?.value ?? "").toLowerCase().split(/\s+/);
		const chosen = selects.map(({ value }, i) => value && values[i]?.[Number(value)]);
		const left = rows.filter(
			(one) =>
				words.every((word) => one.text.includes(word)) &&
				NAMES.every((name, i) => !chosen[i] || one.of[name].includes(chosen[i])),
		);
		for (const one of rows) one.row.hidden = !left.includes(one);
		const scenarios = new Set(left.flatMap(({ of }) => of.Scenario));
		for (const trend of page.querySelectorAll<HTMLElement>("#over-time > :is(section, details)"))
			trend.hidden = !scenarios.has(textsOf(trend, "h3, summary")[0] ?? "");
		if (shown) shown.textContent = `${left.length} of ${rows.length} shown`;
	};
	bar.addEventListener("input", apply);
	bar.querySelector("button")?.addEventListener("click", () => {
		for (const control of [text, ...selects]) if (control) control.value = "";
		apply();
		text?.focus();
	});
	table.parentElement?.before(bar);
	apply();
}

// --- internal ---

const NAMES = ["Scenario", "System", "Verdict"] as const;

function textsOf(row: HTMLElement, what: string): string[] {
	return [...row.querySelectorAll(what)].map((one) => (one.textContent ?? "").trim());
}
