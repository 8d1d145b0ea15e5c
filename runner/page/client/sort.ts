/** Tables whose heads sort their rows when they are pressed: upwards, downwards, and as they were. */
export function sortable(root: ParentNode): void {
	for (const table of root.querySelectorAll<HTMLTableElement>(
		".wide > table:not(.matrix, .gates table)",
	)) {
		const body = table.tBodies[0];
		const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
		if (body === undefined || body.rows.length < FEWEST) continue;
		const original = [...body.rows];
		for (const [column, head] of heads.entries()) {
			const text = head.textContent?.trim() ?? "";
			if (text === "" || head.dataset.sorts !== undefined) continue;
			head.dataset.sorts = "";
			const button = document.createElement("button");
			button.type = "button";
			button.className = "sort";
			for (const node of [...head.childNodes]) button.append(node);
			head.append(button);
			button.addEventListener("click", () => {
				const was = head.getAttribute("aria-sort");
				for (const other of heads) other.removeAttribute("aria-sort");
				const next = was === null ? "ascending" : was === "ascending" ? "descending" : null;
				if (next !== null) head.setAttribute("aria-sort", next);
				const sign = next === "descending" ? -1 : 1;
				const rows =
					next === null
						? original
						: original.toSorted((a, b) => compared(textOf(a, column), textOf(b, column), sign));
				for (const row of rows) body.append(row);
			});
		}
	}
}

/** Numbers with their units, and with "~" or ">" before them, by their size, else as text; what is no number comes after all numbers. `sign` -1: downwards. */
export function compared(a: string, b: string, sign: 1 | -1 = 1): number {
	const [x, y] = [sizeOf(a), sizeOf(b)];
	if (x !== null && y !== null) return sign * (x - y);
	if (x !== null || y !== null) return x === null ? 1 : -1;
	return sign * a.localeCompare(b);
}

// --- internal ---

/** Fewer rows are seen at a glance. */
const FEWEST = 4;

const UNITS: Readonly<Record<string, number>> = {
	ns: 1,
	us: 1e3,
	ms: 1e6,
	s: 1e9,
	min: 60e9,
	h: 3600e9,
	B: 1,
	KB: 1e3,
	MB: 1e6,
	GB: 1e9,
	KiB: 1024,
	MiB: 1024 ** 2,
	GiB: 1024 ** 3,
	TiB: 1024 ** 4,
};

function textOf(row: HTMLTableRowElement, column: number): string {
	const cell = row.cells[column];
	const time = cell?.querySelector("time")?.dateTime;
	if (time !== undefined) return time;
	// Small print beside a value is no part of it.
	return [...(cell?.childNodes ?? [])]
		.filter((node) => node.nodeName !== "SMALL")
		.map((node) => node.textContent ?? "")
		.join("")
		.trim();
}

/** "~1.2ms" in ns, "3\u00a0000/s" as 3000; null: it is not a number and a unit alone. A value beyond the timeout is above the timeout itself. */
function sizeOf(text: string): number | null {
	const found = /^([~>\s]*)([-+]?\d[\d\s\u00a0\u202f]*(?:\.\d+)?)\s*([a-zA-Z]*|%|x)(?:\/s)?$/.exec(
		text,
	);
	const [, sign = "", digits = "", unit = ""] = found ?? [];
	const size = unit === "" || unit === "%" || unit === "x" ? 1 : UNITS[unit];
	if (found === null || size === undefined) return null;
	const value = Number(digits.replaceAll(/[\s\u00a0\u202f]/g, ""));
	return value * size * (sign.includes(">") ? 1 + 1e-9 : 1);
}
