import type { Scenario } from "../runner/scenario/scenario.ts";
import type { World } from "../runner/world.ts";
import type { Binaries } from "./binaries/resolve.ts";
import { existingRig } from "./existing/existing.ts";
import { localRig } from "./local/local.ts";
import type { Rig } from "./rig.ts";

/** Stands up what the scenario's target asks for. */
export function provision(
	target: Scenario["target"],
	world: World,
	binaries: Binaries,
): Promise<Rig> {
	return targets[target](world, binaries);
}

// --- internal ---

const targets: Record<
	Scenario["target"],
	(world: World, binaries: Binaries) => Promise<Rig>
> = {
	local: localRig,
	existing: async (world) => existingRig(world.stop),
};
