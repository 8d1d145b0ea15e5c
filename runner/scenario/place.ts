import type { Place } from "./other-tools.ts";
import type { Path } from "./problem.ts";
import { isMap, valueAt } from "./written.ts";

/** How places of a scenario are called. */

/** The part of a scenario that the keys at a path belong to. */
export function placeOf(path: Path): Place {
	const [top, , third] = path;
	if (path.length === 0) return "scenario";
	if (top === "workload" && path.length === 1) return "workload";
	if (top === "matrix" && path.length === 1) return "matrix";
	if (top === "cases" && path.length === 2) return "case";
	if (isSystem(path)) return "system";
	if (top === "sla" && path.length === 2) return "sla";
	if (top === "cases" && third === "sla" && path.length === 4) return "sla";
	const list = path.at(-2);
	const inList = list === "stages" || list === "steps" || list === "faults";
	return inList && typeof path.at(-1) === "number" ? list : "other";
}

export function isSystem(path: Path): boolean {
	return (
		(path.length === 1 && path[0] === "system") || (path.length === 2 && path[0] === "systems")
	);
}

/** The broker that the system at a path names. */
export function systemBroker(path: Path, whole: unknown): string {
	const system = valueAt(whole, path);
	const broker = isMap(system) ? system.broker : system;
	return typeof broker === "string" ? broker : "this system";
}

/** The field that a path leads to: that of a list for its items. */
export function fieldOf(path: Path): string {
	const item = path[0] === "matrix" && path.length === 3;
	return String(item ? path[1] : path.at(-1));
}

/** "rate", "case 2", "sla line 1", "step 3", "the scenario". */
export function noun(path: Path): string {
	const last = path.at(-1);
	if (last === undefined) return "the scenario";
	if (typeof last !== "number") return last;
	if (path[0] === "matrix" && path.length === 3) return fieldOf(path);
	const items: Readonly<Record<string, string>> = {
		sla: "sla line",
		cases: "case",
		stages: "stage",
		steps: "step",
		faults: "fault",
	};
	const list = String(path.at(-2));
	return `${Object.hasOwn(items, list) ? items[list] : list} ${last + 1}`;
}

/** What a person wrote, in quotes; of a long text its beginning. */
export function quoted(value: unknown): string {
	const text = String(value);
	return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text);
}
