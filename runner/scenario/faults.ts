import { formatDurationExact } from "../units.ts";
import type { ResolvedCases } from "./cases.ts";
import type { Problem } from "./problem.ts";
import type { Fault } from "./scenario.ts";
import { ScenarioFile, type Target } from "./schema.ts";
import type { PlacedSystem } from "./systems.ts";

/** What is done to the brokers while they are measured. On the target that the command line chose, those of others are left aside. */
export function resolveFaults(
	written: unknown,
	context: {
		readonly target: Target | undefined;
		readonly targetChosen: boolean;
		readonly platform: string;
	},
	systems: readonly PlacedSystem[],
	{ cases }: ResolvedCases,
): { faults: Fault[]; problems: Problem[] } {
	const faults = ScenarioFile.shape.faults.safeParse(written).data ?? [];
	const problems: Problem[] = [];
	const wrong = (
		index: number | null,
		field: string | null,
		message: string,
	): void => {
		problems.push({
			path: [
				"faults",
				...(index === null ? [] : [index]),
				...(field === null ? [] : [field]),
			],
			at: field === null ? "key" : "value",
			message,
		});
	};
	if (faults.length === 0) return { faults: [], problems };
	if (context.target === "existing") {
		if (!context.targetChosen)
			wrong(
				null,
				null,
				"faults are for target local, where mqbench starts the brokers: it never touches yours; remove them",
			);
		return { faults: [], problems };
	}
	if (context.platform === "win32")
		wrong(
			null,
			null,
			"faults need signals, which Windows has not; remove them",
		);
	for (const [index, fault] of faults.entries()) {
		for (const one of cases) {
			if (!one) continue;
			if (one.load.kind === "closed") {
				wrong(
					index,
					"at",
					`case "${one.name}" is a closed load (messages), whose window begins when its warm-up is through: no moment of it is known before; give a rate`,
				);
				break;
			}
			if (fault.at >= one.durationNs) {
				wrong(
					index,
					"at",
					`at ${formatDurationExact(fault.at)} lies beyond the measured ${formatDurationExact(one.durationNs)} of case "${one.name}"; it counts from the end of the warm-up`,
				);
				break;
			}
		}
		const node = fault.node;
		const small = systems.find(
			({ options }) =>
				node !== undefined &&
				node > (("nodes" in options ? options.nodes : undefined) ?? 1),
		);
		if (small !== undefined)
			wrong(
				index,
				"node",
				`node ${node}: ${small.key} has not so many nodes; write nodes: ${node} there, or leave node out for all of them`,
			);
	}
	const overlapping = faults.findIndex((fault, i) => {
		const before = faults[i - 1];
		return before !== undefined && fault.at < before.at + before.for;
	});
	if (overlapping > 0)
		wrong(
			overlapping,
			"at",
			"a fault begins when the one before it is over; write them in their order",
		);
	return {
		faults: faults.map(({ at, action, for: forNs, node }) => ({
			atNs: at,
			action,
			forNs,
			node: node ?? null,
		})),
		problems,
	};
}
