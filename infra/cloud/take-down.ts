import { setTimeout as sleep } from "node:timers/promises";
import { failure, type MqbenchError } from "../../runner/errors.ts";
import type { World } from "../../runner/world.ts";
import type { Cloud, RigFile } from "../rig-file.ts";
import { goneText, leftText } from "./leftover.ts";
import { forget, keepPhase, type RigFolder } from "./rigs.ts";
import type { Stack } from "./stack.ts";

/** What is known of a rig when it is taken down. */
export type Known = Pick<RigFile, "id" | "cloud" | "expiresAt">;

export interface TakingDown {
	readonly world: World;
	/** Told of each step, a line for people. */
	say(line: string): void;
	/** Between one try and the next. */
	readonly pausesMs: readonly number[];
	/** Removes a rig by its tags, and resolves with what stays. */
	readonly sweep: typeof sweepRig;
}

/**
 * Destroys, drops a lock where there is one, and tries again; then nothing is left, and nothing remembered. To its end whatever
 * `world.stop` says. Fails with `cloud-left`.
 */
export async function takeDown(
	stack: Stack,
	folder: RigFolder,
	rig: Known,
	{ world, say, pausesMs, sweep }: TakingDown,
): Promise<void> {
	world.leaving?.(
		goneText(
			rig,
			"Pulumi goes on taking it down as long as it can; the first command below waits for that, and does the rest.",
			world.clock.nowMs(),
		),
	);
	await keepPhase(folder, "destroying").catch(() => {});
	let reason = "";
	for (const pauseMs of [0, ...pausesMs]) {
		if (pauseMs > 0) {
			say(`Not all of it went (${reason}). Trying again ...`);
			await sleep(pauseMs);
		}
		try {
			await destroy(stack, say);
			const there = await stack.resources();
			const stays =
				there.length === 0 ? await swept(stack, rig, world, say, sweep) : [];
			if (there.length === 0 && stays.length === 0) {
				// Its state goes with the folder all the same.
				await stack.remove().catch(() => {});
				await forget(folder);
				return;
			}
			reason = stays.join("; ") || "Pulumi could not remove them";
		} catch (error) {
			reason = wordsOf(error);
		}
	}
	const there = await all(stack).catch(() => null);
	throw await left(folder, rig, there, reason, world);
}

/** Says in rig.json that something is left, and makes (does not throw) the failure that lists it. */
export async function left(
	folder: RigFolder,
	{ id, cloud, expiresAt }: Known,
	resources: readonly string[] | null,
	reason: string,
	world: World,
): Promise<MqbenchError> {
	await keepPhase(folder, "left").catch(() => {});
	const { region = null, profile = null } = cloud ?? {};
	return failure("cloud-left", {
		text: leftText(
			{ id, region, profile, expiresAt, resources, reason },
			world.clock.nowMs(),
		),
	});
}

/** Removes what carries the tag of a rig; resolves with what stays, a line each. */
export async function sweepRig(
	{ id, region, profile, owner }: Cloud & { readonly id: string },
	world: World,
	say: (line: string) => void,
): Promise<string[]> {
	const { findTagged, removeTagged, thingText } = await import("./sweep.ts");
	const found = await findTagged({ region, profile, owner, id }, world);
	const { left } = await removeTagged(found, { region, profile }, world, say);
	return left.map(
		({ thing, reason }) =>
			`${thingText(thing, world.clock.nowMs())}: ${reason}`,
	);
}

/** Why it failed, as a part of a sentence. */
export function wordsOf(error: unknown): string {
	return (error instanceof Error ? error.message : String(error))
		.trim()
		.replace(/\.$/, "");
}

// --- internal ---

async function all(stack: Stack): Promise<string[]> {
	return [...(await stack.resources()), ...(await stack.unsure())];
}

/** A Pulumi that was killed may have made what is not in its state: only its tag tells. Resolves with what stays. */
async function swept(
	stack: Stack,
	{ id, cloud }: Known,
	world: World,
	say: TakingDown["say"],
	sweep: TakingDown["sweep"],
): Promise<string[]> {
	const unsure = await stack.unsure();
	if (unsure.length === 0) return [];
	if (cloud === null) return ["where it is to be looked for is not known"];
	say(
		`Pulumi was killed while it made something, which may be there: looking for the tag mqbench:run=${id} in ${cloud.region} ...`,
	);
	// To its end, too.
	const { signal: stop } = new AbortController();
	return await sweep({ id, ...cloud }, { ...world, stop }, say);
}

/** Never told to stop. A Pulumi that was killed has left its lock: whoever holds the rig may drop it. */
async function destroy(stack: Stack, say: TakingDown["say"]): Promise<void> {
	const { signal } = new AbortController();
	try {
		await stack.destroy({ signal, say });
	} catch (error) {
		if (!/currently locked by|currently in progress/i.test(wordsOf(error)))
			throw error;
		say("A Pulumi that was killed has left its lock: it is dropped.");
		await stack.cancel();
		await stack.destroy({ signal, say });
	}
}
