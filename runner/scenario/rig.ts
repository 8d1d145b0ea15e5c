import { formatBytesExact } from "../units.ts";
import type { ResolvedCases } from "./cases.ts";
import type { GivenRig } from "./overrides.ts";
import type { Problem } from "./problem.ts";
import type { Scenario } from "./scenario.ts";
import type { PlacedSystem } from "./systems.ts";

/** Messages that are larger than those which the rig's brokers were set up for. */
export function beyondRig(
	systems: readonly PlacedSystem[],
	{ cases, where }: ResolvedCases,
	given: GivenRig | null,
): Problem[] {
	if (given === null) return [];
	return systems.flatMap(({ key }) => {
		const most = brokerOf(given, key)?.messageBytes ?? null;
		if (most === null) return [];
		return cases.flatMap((one, index): Problem[] =>
			one === undefined || one.messageBytes <= most
				? []
				: [
						{
							path: where(index, "message"),
							at: "value",
							message: `message ${formatBytesExact(one.messageBytes)}: ${given.path} has set ${key} up for messages of at most ${formatBytesExact(most)}; write a smaller message, or stand another rig up`,
						},
					],
		);
	});
}

/** Faults of brokers whose processes and containers are not in reach. */
export function untouchable(
	faults: unknown,
	systems: readonly PlacedSystem[],
	given: GivenRig | null,
): Problem[] {
	if (given === null || !Array.isArray(faults) || faults.length === 0)
		return [];
	const docker = given.rig.target === "docker";
	const out = systems.find(
		({ key, url }) =>
			url !== null &&
			(!docker || (brokerOf(given, key)?.containers.length ?? 0) === 0),
	);
	return out === undefined
		? []
		: [
				{
					path: ["faults"],
					at: "key",
					message: `faults need containers of target docker, and ${given.path} has none for ${out.key}; remove faults, or stand a rig up with --target docker`,
				},
			];
}

/** What a report has to say of brokers that were there before the run. */
export function notFresh({ rig }: Pick<Scenario, "rig">): string[] {
	return rig === null
		? []
		: [
				`the broker was not fresh: it belongs to the rig ${rig.id}, which stays up, and other runs may have been there before`,
			];
}

// --- internal ---

function brokerOf({ rig }: GivenRig, key: string) {
	return rig.brokers.find(({ system }) => system === key);
}
