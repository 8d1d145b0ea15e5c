/**
 * The filter of an index: rows and trends that do not match are hidden. On pages without one it does nothing. A row matches when each
 * word of the text stands somewhere in it, and it has the scenario, system and verdict that are chosen; a trend has no verdict.
 */
export function filterOf(page: Document): void {
	const bar = page.querySelector<HTMLElement>(".filter");
	if (bar === null) return;
	const control = (name: string) =>
		bar.querySelector<HTMLInputElement | HTMLSelectElement>(`[data-filter="${name}"]`);
	const shown = bar.querySelector("output");
	const rows = [...page.querySelectorAll<HTMLElement>(".results tbody tr")].map((row) => ({
		row,
		text: (row.textContent ?? "").toLowerCase(),
	}));
	const trends = [...page.querySelectorAll<HTMLElement>("div[data-scenario]")].map((row) => ({
		row,
		text: "",
	}));

	const apply = () => {
		const words = (control("text")?.value ?? "")
			.toLowerCase()
			.split(/\s+/)
			.filter((word) => word !== "");
		const [scenario, system, verdict] = ["scenario", "system", "verdict"].map(
			(name) => control(name)?.value ?? "",
		);
		const matches = ({ dataset }: HTMLElement) =>
			(!scenario || dataset.scenario === scenario) &&
			(!system || JSON.parse(dataset.systems ?? "[]").includes(system));
		let matching = 0;
		for (const { row, text } of rows) {
			row.hidden = !(
				matches(row) &&
				(!verdict || row.dataset.verdict === verdict) &&
				words.every((word) => text.includes(word))
			);
			if (!row.hidden) matching++;
		}
		for (const { row } of trends) row.hidden = !matches(row);
		if (shown) shown.textContent = `${matching} of ${rows.length} shown`;
	};
	bar.addEventListener("input", apply);
	control("clear")?.addEventListener("click", () => {
		for (const name of ["text", "scenario", "system", "verdict"]) {
			const one = control(name);
			if (one) one.value = "";
		}
		apply();
		control("text")?.focus();
	});
	bar.hidden = false;
	// A browser that goes back has kept what was chosen.
	apply();
}
