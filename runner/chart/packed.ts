import type { Datum, Figure, Panel, Series } from "./figure.ts";

/** A figure with the data of its series as columns: they take three quarters of the room of objects, packed and as they are. */
export type Packed = Omit<Figure, "panels"> & {
	readonly panels: readonly (Omit<Panel, "series"> & {
		readonly series: readonly (Omit<Series, "data"> & { readonly data: Columns })[];
	})[];
};

/** By the name of a field its values in their order; of a field that some data have not, by position. */
type Columns = Readonly<Record<string, readonly unknown[] | Readonly<Record<string, unknown>>>>;

export function packed(figure: Figure): Packed {
	return withData(figure, columnsOf) as Packed;
}

export function unpacked(figure: Packed): Figure {
	return withData(figure, rowsOf) as Figure;
}

// --- internal ---

function withData<From, To>(
	figure: { readonly panels: readonly { readonly series: readonly { readonly data: From }[] }[] },
	change: (data: From) => To,
): unknown {
	return {
		...figure,
		panels: figure.panels.map((panel) => ({
			...panel,
			series: panel.series.map((series) => ({ ...series, data: change(series.data) })),
		})),
	};
}

function columnsOf(data: readonly Datum[]): Columns {
	const names = new Set(data.flatMap((datum) => Object.keys(datum))) as Set<keyof Datum>;
	const column = (name: keyof Datum) =>
		data.every((datum) => name in datum)
			? data.map((datum) => datum[name])
			: Object.fromEntries(data.flatMap((datum, i) => (name in datum ? [[i, datum[name]]] : [])));
	return Object.fromEntries([...names].map((name) => [name, column(name)]));
}

function rowsOf(columns: Columns): Datum[] {
	const all = Object.entries(columns) as [string, Record<number, unknown>][];
	return ((columns.x ?? []) as readonly number[]).map(
		(_, i) =>
			Object.fromEntries(
				all.flatMap(([name, values]) => (i in values ? [[name, values[i]]] : [])),
			) as unknown as Datum,
	);
}
