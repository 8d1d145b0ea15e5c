import type { Chart } from "./chart.ts";

/**
 * Keeps the page to one system, one case, or both, as the buttons of the matrix say: other runs are hidden, and other systems switched
 * off in the charts. The choice stands in the address, so that a link shows the same.
 */
export class Keep {
	readonly #buttons = [
		...document.querySelectorAll<HTMLElement>(
			".matrix button[data-system], .matrix button[data-case]",
		),
	];
	readonly #charts: () => Iterable<Chart>;
	#system: string | null;
	#case: string | null;

	constructor(charts: () => Iterable<Chart>) {
		this.#charts = charts;
		const query = new URLSearchParams(location.search);
		// A name that this page does not have would leave nothing of it.
		const known = (of: "system" | "case") =>
			this.#buttons.some((button) => button.dataset[of] === query.get(of)) ? query.get(of) : null;
		this.#system = known("system");
		this.#case = known("case");
		for (const button of this.#buttons)
			button.addEventListener("click", () => {
				const { system, case: name } = button.dataset;
				if (system !== undefined) this.#system = this.#system === system ? null : system;
				if (name !== undefined) this.#case = this.#case === name ? null : name;
				this.#apply();
				this.#remember();
			});
		if (this.#system !== null || this.#case !== null) this.#apply();
	}

	/** A chart that is drawn later follows the choice as well. */
	follow(chart: Chart): void {
		if (this.#system !== null) chart.only(this.#system);
	}

	/** All runs are shown again: a link leads to one of those that were hidden. */
	release(): void {
		if (this.#system === null && this.#case === null) return;
		this.#system = null;
		this.#case = null;
		this.#apply();
		this.#remember();
	}

	#apply(): void {
		for (const button of this.#buttons)
			button.setAttribute(
				"aria-pressed",
				`${(button.dataset.system ?? null) === this.#system && this.#system !== null ? true : (button.dataset.case ?? null) === this.#case && this.#case !== null}`,
			);
		const kept = ({ dataset: { system, case: name } }: HTMLElement) =>
			(this.#system === null || system === this.#system) &&
			(this.#case === null || name === this.#case);
		const runs = [...document.querySelectorAll<HTMLElement>(".run")];
		for (const run of runs) run.hidden = !kept(run);
		for (const cell of document.querySelectorAll<HTMLElement>(".matrix td"))
			cell.classList.toggle("off", !kept(cell));
		const said = document.querySelector<HTMLElement>(".kept");
		const shown = runs.filter(kept).length;
		if (said) {
			said.hidden = shown === runs.length;
			said.textContent = `${shown} of ${runs.length} runs are shown below: press the name again for all.`;
		}
		for (const chart of this.#charts()) chart.only(this.#system);
	}

	#remember(): void {
		const url = new URL(location.href);
		for (const [name, value] of [
			["system", this.#system],
			["case", this.#case],
		] as const)
			if (value === null) url.searchParams.delete(name);
			else url.searchParams.set(name, value);
		history.replaceState(null, "", url);
	}
}
