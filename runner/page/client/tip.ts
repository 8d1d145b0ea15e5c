import type { View } from "../../chart/old-figure.ts";
import type { Reading } from "../../chart/readings.ts";
import { element, swatchOf } from "./elements.ts";

/** The box beside a pointer: the nearest values, in the words of the tables. All texts are set as text. */
export function tipOf({ title, rows }: Reading, theme: View["theme"]): HTMLElement {
	const box = element("div", "");
	const table = element("table", "");
	for (const { key, name, text, href } of rows.slice(0, MOST)) {
		const row = table.insertRow();
		const head = row.appendChild(element("th", ""));
		if (key !== null) head.append(swatchOf(key, theme));
		head.append(name);
		const cell = row.insertCell();
		if (href == null) cell.textContent = text;
		else {
			const link = element("a", "", text);
			link.href = href;
			cell.append(link);
		}
	}
	box.append(element("b", "", title), table);
	if (rows.length > MOST) box.append(element("small", "", `and ${rows.length - MOST} more`));
	return box;
}

// --- internal ---

/** Rows that a tooltip has at most. */
const MOST = 12;
