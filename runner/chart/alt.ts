import { largestOf } from "../extremes.ts";
import { formatCount } from "../units.ts";
import type { Axis, Datum, Figure, Series, Unit } from "./figure.ts";
import { axisText, unitText } from "./units.ts";

/** What a figure says, in words, for those who do not see it: of lines over time the largest value, of others what has a text. */
export function altOf({ x, panels }: Pick<Figure, "x" | "panels">): string {
	const parts = panels.flatMap(({ title, unit, series }) => {
		const texts = series.flatMap((one) => textOf(one, unit, x) ?? []);
		return panels.length === 1 || texts.length === 0 ? texts : [`${title}: ${texts.join(", ")}`];
	});
	const more = parts.length > MOST ? [`And ${parts.length - MOST} more`] : [];
	return [...parts.slice(0, MOST), ...more].map((part) => `${part}.`).join(" ");
}

/** "response" of "response: from the intended send time", which is what a legend explains. */
export function briefOf({ name, group }: Pick<Series, "name" | "group">): string {
	return (name === group ? name.split(": ")[0] : name) ?? "";
}

// --- internal ---

const MOST = 40;

function textOf(series: Series, unit: Unit, axis: Axis): string | null {
	const { draw, data, end } = series;
	const name = briefOf(series);
	if (draw === "cells") return cellsText(name, data, unit);
	if (axis.scale === "seconds" && draw !== "words") {
		const beyond = data.find(({ y, text }) => y === null && text !== undefined);
		const values = data.flatMap(({ y }) => y ?? []);
		if (beyond === undefined && values.length === 0) return null;
		return `${name} ${beyond?.text ?? `at most ${unitText(unit, largestOf(values))}`}`;
	}
	const named = data.filter(({ text }) => text !== undefined);
	// Of runs over calendar time the newest: the others stand in the table.
	const told = axis.scale === "date" ? named.slice(-1) : named.slice(0, MOST);
	const texts = told.map(({ x, text }) => `${axisText(axis, x)} ${text}`);
	if (end !== undefined) texts.push(end.y === null ? `${end.text}` : `max ${end.text}`);
	return texts.length === 0 ? null : `${name}: ${texts.join(", ")}`;
}

/** A margin counts nothing. */
function cellsText(name: string, cells: readonly Datum[], unit: Unit): string | null {
	const [slowest] = cells.toSorted((a, b) => (b.y ?? 0) - (a.y ?? 0));
	if (slowest?.n === undefined) return null;
	const all = formatCount(cells.reduce((n, cell) => n + (cell.n ?? 0), 0));
	const [low, high] = [slowest.y ?? 0, slowest.y2 ?? 0].map((y) => unitText(unit, y));
	return `${all} ${name}, the slowest between ${low} and ${high}`;
}
