/** Makes a press on a head sort the rows up, down, and back to the original order. Numbers come before words. */
export function sortTables(): void {
	for (const table of document.querySelectorAll<HTMLTableElement>(
		".wide > table:not(.gates, .cards)",
	)) {
		const [body] = table.tBodies;
		const original = [...(body?.rows ?? [])];
		if (original.length < FEWEST) continue;
		const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
		for (const [column, head] of heads.entries()) {
			if (head.textContent === "") continue;
			const button = document.createElement("button");
			button.type = "button";
			button.className = "sort";
			for (const node of [...head.childNodes]) button.append(node);
			head.append(button);
			button.addEventListener("click", () => {
				const next = { none: "ascending", ascending: "descending" }[head.ariaSort ?? "none"];
				for (const other of heads) other.ariaSort = null;
				head.ariaSort = next ?? null;
				const sign = next === "descending" ? -1 : 1;
				const sorted = original.toSorted((a, b) =>
					compared(a.cells[column], b.cells[column], sign),
				);
				for (const row of next === undefined ? original : sorted) body?.append(row);
			});
		}
	}
}

// --- internal ---

/** With fewer rows sorting is pointless. */
const FEWEST = 4;

function compared(a: HTMLElement | undefined, b: HTMLElement | undefined, sign: number): number {
	const [x, y] = [a?.dataset.n, b?.dataset.n];
	if (x !== undefined && y !== undefined) return sign * (Number(x) - Number(y));
	if (x !== undefined || y !== undefined) return x === undefined ? 1 : -1;
	return sign * (a?.textContent ?? "").localeCompare(b?.textContent ?? "");
}
