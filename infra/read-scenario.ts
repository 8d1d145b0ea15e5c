import { readFile } from "node:fs/promises";
import path from "node:path";
import { failure } from "../runner/errors.ts";
import { reasonOf } from "../runner/reason.ts";
import { around, extensionsIn, loadScenario } from "../runner/scenario/load.ts";
import type { Overrides } from "../runner/scenario/overrides.ts";
import { shorten } from "../runner/scenario/quick.ts";
import { givenRig } from "../runner/scenario/rig.ts";
import type { Scenario } from "../runner/scenario/scenario.ts";
import type { World } from "../runner/world.ts";
import { readExtensions } from "./programs/extension.ts";
import { pinned } from "./programs/pins.ts";

type Reading = Overrides & { readonly yes?: boolean | undefined };
type Outer = Pick<World, "cwd" | "env" | "stop" | "ask">;

/** `onRig` resolves the scenario again on the rig in that file, stood up for it. `yes`: downloads a missing Go without asking. */
export async function readScenario(
	file: string,
	overrides: Reading,
	world: Outer,
): Promise<{ scenario: Scenario; text: string; onRig(rig: string): Promise<Scenario> }> {
	const where = path.resolve(world.cwd, file);
	let text: string;
	try {
		text = await readFile(where, "utf8");
	} catch (error) {
		throw failure("scenario-unreadable", { path: file, reason: reasonOf(error) });
	}
	const named = extensionsIn(text, overrides);
	const found = await readExtensions(named, { ...world, cwd: path.dirname(where) }, overrides.yes);
	const drivers = found.length === 0 ? null : pinned(where, found);
	const resolve = async (changes: Overrides) => {
		const rig = changes.rig && { ...(await givenRig(changes.rig, world.cwd)), only: changes.only };
		const scenario = loadScenario(file, text, changes, world.env, {
			...around(file, world.cwd),
			...(rig ? { rig } : {}),
			drivers,
		});
		return changes.quick ? shorten(scenario) : scenario;
	};
	return {
		scenario: await resolve(overrides),
		text,
		onRig: (rig) => resolve({ ...overrides, target: undefined, rig }),
	};
}
