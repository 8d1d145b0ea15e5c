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
	const bar = page.createElement("div");
	bar.className = "tools filter";
	bar.setAttribute("role", "search");
	bar.setAttribute("aria-label", "Results");
	const labelled = <T extends HTMLElement>(name: string, control: T): T => {
		const label = page.createElement("label");
		label.append(`${name} `, control);
		bar.append(label);
		return control;
	};
	const text = labelled("Text", page.createElement("input"));
	text.type = "search";
	text.autocomplete = "off";
	const selects = NAMES.map((name) => {
		const select = labelled(name, page.createElement("select"));
		const values = [...new Set(rows.flatMap(({ of }) => of[name]))];
		values.sort((a, b) => a.localeCompare(b, "en"));
		select.append(new Option("all", ""), ...values.map((value) => new Option(value)));
		return { name, select };
	});
	const clear = page.createElement("button");
	clear.type = "button";
	clear.textContent = "All results";
	const shown = page.createElement("output");
	bar.append(clear, shown);

	const apply = () => {
		const words = text.value.toLowerCase().split(/\s+/);
		const left = rows.filter(
			(one) =>
				words.every((word) => one.text.includes(word)) &&
				selects.every(({ name, select: { value } }) => !value || one.of[name].includes(value)),
		);
		for (const one of rows) one.row.hidden = !left.includes(one);
		const scenarios = new Set(left.flatMap(({ of }) => of.Scenario));
		for (const trend of page.querySelectorAll<HTMLElement>("#over-time > :is(section, details)"))
			trend.hidden = !scenarios.has(textsOf(trend, "h3, summary")[0] ?? "");
		shown.textContent = `${left.length} of ${rows.length} shown`;
	};
	bar.addEventListener("input", apply);
	clear.addEventListener("click", () => {
		for (const control of [text, ...selects.map(({ select }) => select)]) control.value = "";
		apply();
		text.focus();
	});
	table.parentElement?.before(bar);
	apply();
}

// --- internal ---

const NAMES = ["Scenario", "System", "Verdict"] as const;

function textsOf(row: HTMLElement, what: string): string[] {
	return [...row.querySelectorAll(what)].map((one) => (one.textContent ?? "").trim());
}
