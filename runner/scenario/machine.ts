import type { MachineAsked } from "../model/machine-settings.ts";
import { targets } from "../model/targets.ts";
import type { Context } from "./context.ts";
import type { Parts } from "./parts.ts";
import { type Problem, refuseKey } from "./problem.ts";
import { hasHosts } from "./rig.ts";

/** Settings of machines. Only those of rented ones are set; hosts of a rig were set when it was stood up. Elsewhere that is a mistake. */
export function resolveMachine(
	written: Parts["machine"],
	context: Pick<Context, "target" | "targetChosen" | "rig" | "labelOf">,
): { machine: MachineAsked; problems: Problem[] } {
	const { target, targetChosen, rig, labelOf } = context;
	const rents = target !== undefined && targets[target].rents !== null;
	const possible = rig === null ? rents : hasHosts(rig);
	const asked = possible ? written : undefined;
	const leftAside =
		targetChosen &&
		Object.keys(written ?? {}).every((key) => labelOf(["machine", key]) === undefined);
	return {
		machine: {
			maxCState: asked?.maxCState ?? null,
			smt: asked?.smt ?? null,
			interruptModeration: asked?.interruptModeration ?? null,
		},
		problems:
			written === undefined || possible || target === undefined || leftAside
				? []
				: [refuseKey(["machine"], "machine-not-set", { target })],
	};
}
