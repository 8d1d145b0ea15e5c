import type { Plan, Sla } from "../model/plan.ts";
import type { Tally } from "../model/tallies.ts";

/** `find`: a search for a rate at which nothing is lost. */
export type Promises = Pick<Plan, "pattern" | "delivery" | "order"> & {
	readonly checksum: boolean;
	readonly find: string | null;
};

/** SLA lines that follow from promises: "lost == 0 (delivery: at-least-once)". The scenario's own line for a tally replaces them. */
export function promisedGates(
	{ pattern, delivery, order, checksum, find }: Promises,
	written: readonly Sla[],
): Sla[] {
	// Without receivers nothing can be missed.
	if (pattern === "publish") return [];
	const gates: [Tally, string][] = [];
	if (delivery !== "at-most-once") gates.push(["lost", `delivery: ${delivery}`]);
	else if (find !== null) gates.push(["lost", `find: ${find}`]);
	if (delivery === "exactly-once") gates.push(["duplicated", `delivery: ${delivery}`]);
	if (order !== "none") gates.push(["reordered", `order: ${order}`]);
	if (checksum) gates.push(["corrupted", "checksum: true"]);
	const judged = new Set(written.flatMap((sla) => (sla.kind === "tally" ? [sla.tally] : [])));
	return gates
		.filter(([tally]) => !judged.has(tally))
		.map(([tally, from]) => ({
			kind: "tally",
			text: `${tally} == 0 (${from})`,
			tally,
			op: "==",
			limit: 0,
			abort: false,
		}));
}
