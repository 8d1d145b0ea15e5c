import { resolveCases } from "./cases.ts";
import type { Path } from "./problem.ts";
import { parseSource, type Source } from "./source.ts";

/** What identifies a gate: an SLA line as it was written, judged of a system and case. */
export interface JudgedLine {
	readonly sla: string;
	readonly system: string;
	readonly case: string;
}

/**
 * Finds the line of a scenario's text, from 1, at which a gate's SLA stands, in `sla` or in its case; null when it is not there: a promise
 * (delivery: at-least-once), or set on the command line. Entries apply as resolveSlaLines has it; two that say the same are one
 * gate, and the first is named.
 */
export function slaPlaces(
	text: string,
	folder = ".",
): (gate: JudgedLine) => number | null {
	const yaml = text.replace(/^\ufeff/, "");
	const parsed = parseSource(yaml);
	if ("problems" in parsed) return () => null;
	const { source } = parsed;
	const entries = entriesOf(source);
	const names = resolveCases(source.value, folder).cases.map(
		(one) => one?.name ?? null,
	);
	return (gate) => {
		const alike = entries.filter(
			({ expect, system }) =>
				expect === gate.sla && (system ?? gate.system) === gate.system,
		);
		const found =
			alike.find((entry) => meant(entry, gate, names) === true) ??
			// Command lines change names as well (--set workload.rate=5000/s): then the only line it can be.
			only(alike.filter((entry) => meant(entry, gate, names) === null));
		return found === undefined
			? null
			: lineAt(yaml, source.locate(found.path, "value"));
	};
}

// --- internal ---

interface Entry {
	readonly expect: string;
	readonly system: string | undefined;
	readonly case: string | undefined;
	/** Position of the case whose own it is. */
	readonly inCase: number | null;
	readonly path: Path;
}

function entriesOf({ value }: Source): Entry[] {
	const entries = (list: unknown, path: Path, inCase: number | null) =>
		(Array.isArray(list) ? list : []).flatMap((entry, index): Entry[] => {
			const long = isMap(entry);
			const expect = long ? entry.expect : entry;
			if (typeof expect !== "string") return [];
			return [
				{
					expect: expect.trim().replaceAll(/\s+/g, " "),
					system: long ? word(entry.system) : undefined,
					case: long ? word(entry.case) : undefined,
					inCase,
					path: [...path, index, ...(long ? ["expect"] : [])],
				},
			];
		});
	const cases = Array.isArray(value.cases) ? value.cases : [];
	return [
		...entries(value.sla, ["sla"], null),
		...cases.flatMap((one, index) =>
			isMap(one) ? entries(one.sla, ["cases", index, "sla"], index) : [],
		),
	];
}

/** Is it an entry of the gate's case? null: the name may have changed since it was written. */
function meant(
	entry: Entry,
	gate: JudgedLine,
	names: readonly (string | null)[],
): boolean | null {
	const { inCase, case: asked } = entry;
	if (inCase === null && asked === undefined) return true;
	// A whole name goes before the beginning of another.
	if (asked !== undefined)
		return (
			asked === gate.case ||
			(gate.case.startsWith(`${asked} `) && !names.includes(asked))
		);
	if (inCase !== null && names[inCase] === gate.case) return true;
	return names.includes(gate.case) ? false : null;
}

function only(entries: readonly Entry[]): Entry | undefined {
	return entries.length === 1 ? entries[0] : undefined;
}

function lineAt(text: string, offset: number): number {
	return text.slice(0, offset).split("\n").length;
}

function word(value: unknown): string | undefined {
	return value === undefined || value === null ? undefined : String(value);
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
