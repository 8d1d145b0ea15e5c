import { readFile } from "node:fs/promises";
import path from "node:path";
import { failure } from "../errors.ts";
import { reasonOf } from "../reason.ts";
import type { World } from "../world.ts";
import { around, loadScenario } from "./load.ts";
import type { Overrides } from "./overrides.ts";
import { shorten } from "./quick.ts";
import { givenRig } from "./rig-store.ts";
import type { Scenario } from "./scenario.ts";

/** `onRig` resolves the scenario again on the rig in that file, stood up for it. */
export async function readScenario(
	file: string,
	overrides: Overrides,
	world: Pick<World, "cwd" | "env">,
): Promise<{ scenario: Scenario; text: string; onRig(rig: string): Promise<Scenario> }> {
	let text: string;
	try {
		text = await readFile(path.resolve(world.cwd, file), "utf8");
	} catch (error) {
		throw failure("scenario-unreadable", { path: file, reason: reasonOf(error) });
	}
	const resolve = async (changes: Overrides) => {
		const rig = changes.rig && { ...(await givenRig(changes.rig, world.cwd)), only: changes.only };
		const scenario = loadScenario(file, text, changes, world.env, {
			...around(file, world.cwd),
			...(rig ? { rig } : {}),
		});
		return changes.quick ? shorten(scenario) : scenario;
	};
	return {
		scenario: await resolve(overrides),
		text,
		onRig: (rig) => resolve({ ...overrides, target: undefined, rig }),
	};
}
