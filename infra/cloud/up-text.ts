import { tell } from "../../runner/text/tell.ts";
import type { World } from "../../runner/world.ts";
import { heldBy } from "./hold.ts";
import { timeText } from "./leftover.ts";
import { knownRigs } from "./rigs.ts";

/** Tells somebody who rents more what is still up (except rigs that another mqbench is using), one line each. */
export async function upText(world: World): Promise<string[]> {
	const lines: string[] = [];
	for (const { folder, file } of await knownRigs(world)) {
		const cloud = file?.cloud ?? null;
		if (file === null || cloud === null || cloud.phase === "planned") continue;
		if ((await heldBy(folder)) !== null) continue;
		const { expiresAt } = file;
		const ended =
			expiresAt === null
				? ""
				: Date.parse(expiresAt) <= world.clock.nowMs()
					? tell("still-up-past", { at: timeText(expiresAt) })
					: tell("still-up-until", { at: timeText(expiresAt) });
		lines.push(
			`The rig ${folder.id} is still there (${cloud.phase}, ${cloud.region}${ended}): mqbench rigs destroy ${folder.id}`,
		);
	}
	return lines;
}
