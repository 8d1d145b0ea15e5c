import path from "node:path";
import { failure, MqbenchError } from "../../runner/errors.ts";
import type { Cloud, RigFile } from "../../runner/scenario/rig-file.ts";
import type { World } from "../../runner/world.ts";
import { findByTag } from "./leftover.ts";
import { type CloudOptions, destroyCloud } from "./lifecycle.ts";
import type { Provider } from "./provider.ts";
import { providerOf } from "./providers.ts";
import { accountTrouble } from "./take-down.ts";

/** Takes a rented rig down as its rig.json says. Resolves when nothing of it is left. */
export async function downInCloud(
	rig: RigFile,
	file: string,
	world: World,
	options: CloudOptions = {},
): Promise<void> {
	const state = rig.cloud?.state ?? null;
	// Its state is not ours, so somebody else has to take it down.
	if (rig.cloud === null || state === null)
		throw failure("usage", {
			message: `${file}: the machines of ${rig.id} were stood up by hand, and go the same way: pulumi destroy where pulumi up was run`,
		});
	// The state folder of the command that stood it up, which may have had another MQBENCH_STATE_DIR.
	const folder = path.dirname(path.dirname(state));
	const there = { ...world, env: { ...world.env, MQBENCH_STATE_DIR: folder } };
	for (const at of [there, world])
		try {
			return await destroyCloud(rig.id, at, options);
		} catch (error) {
			if (!(error instanceof MqbenchError && error.code === "no-such-rig")) throw error;
		}
	const { clouds = providerOf } = options;
	await orLeft(rig.id, rig.cloud, state, world, await clouds(rig.cloud.provider));
}

// --- internal ---

/** This machine no longer remembers it: only the cloud knows whether it exists. Fails with `cloud-left` unless it is certainly gone. */
async function orLeft(
	id: string,
	{ region, profile, account, owner }: Cloud,
	state: string,
	world: World,
	provider: Provider,
): Promise<void> {
	const left = (what: string) =>
		failure("cloud-left", {
			text: `The rig ${id} is not remembered any more (${state} is gone), and ${what}.\n${findByTag({ id, region, profile })}`,
		});
	if (account === null)
		throw left("mqbench cannot tell whether it still exists, because its account is not known");
	const trouble = await accountTrouble(provider, { account, region, profile }, world);
	if (trouble !== null) throw left(`mqbench cannot tell whether it still exists: ${trouble.wrong}`);
	const tagged = await provider
		.find({ region, profile, owner, id }, world)
		.catch((error: Error) => {
			throw left(
				`mqbench could not ask whether it still exists: ${error.message.replace(/\.$/, "")}`,
			);
		});
	const count = tagged.reduce((sum, { things }) => sum + things.length, 0);
	if (count > 0)
		throw left(
			`${count} ${count === 1 ? "thing" : "things"} of it ${count === 1 ? "is" : "are"} there in ${region}`,
		);
}
