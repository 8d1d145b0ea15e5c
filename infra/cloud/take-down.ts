import { setTimeout as sleep } from "node:timers/promises";
import { failure, type MqbenchError } from "../../runner/errors.ts";
import { CLOUD_TITLES } from "../../runner/model/targets.ts";
import { reasonOf } from "../../runner/reason.ts";
import type { Cloud, RigFile } from "../../runner/scenario/rig-file.ts";
import type { World } from "../../runner/world.ts";
import { goneText, leftText, thingText } from "./leftover.ts";
import type { Provider, Stack } from "./provider.ts";
import { type Clouds, providerOf } from "./providers.ts";
import { endHolders, PulumiFailed } from "./pulumi-process.ts";
import { forget, type RigFolder } from "./rigs.ts";

/** What is known about a rig when it is taken down. */
export type Known =
	| RigFile
	// Nothing but its folder: no rig.json, and no input of the program.
	| { readonly id: string; readonly cloud: null; readonly expiresAt: null };

export interface TakingDown {
	readonly world: World;
	/** Called with each step, a line for people. */
	say(line: string): void;
	/** How long Pulumi may take to end properly after we asked for it. */
	readonly abortMs: number;
	/** The pause between two tries. */
	readonly pausesMs: readonly number[];
	/** The pause before a second look for what a killed Pulumi may have made. */
	readonly againMs: number;
	readonly clouds: Clouds;
}

/**
 * Destroys, drops a lock if there is one, and tries again; what Pulumi cannot remove is removed by its tag. Then nothing is left, and nothing is
 * remembered. It does not stop for `world.stop`. Fails with `cloud-left`, and with `rig-unforgotten` if only its folder stays.
 */
export async function takeDown(
	stack: Stack,
	folder: RigFolder,
	rig: Known,
	doing: TakingDown,
): Promise<void> {
	const { world, say, pausesMs } = doing;
	world.leaving?.(
		goneText(
			rig,
			"Pulumi goes on taking it down as long as it can; the first command below waits for that, and does the rest.",
			world.clock.nowMs(),
		),
	);
	// Without a state Pulumi would remove nothing, and say that nothing is left.
	if ((await stack.resources().catch(() => [])) === null) {
		const reason = `Pulumi has no state of it in ${folder.pulumi}, which proves nothing`;
		return await sweepAway(folder, rig, { reason, resources: null }, doing);
	}
	let reason = "";
	for (const pauseMs of [0, ...pausesMs]) {
		if (pauseMs > 0) {
			say(`Not all of it went (${reason}). Trying again ...`);
			await sleep(pauseMs);
		}
		const stays = await destroyed(stack, rig, doing).catch(whyOf);
		if (stays === null) {
			// Its state goes with the folder anyway.
			await stack.remove().catch(() => {});
			return await forgetDown(folder);
		}
		reason = stays;
	}
	const resources = await all(stack).catch(() => null);
	await sweepAway(folder, rig, { reason, resources }, doing);
}

/**
 * Removes a rig by its tags that Pulumi could not take down: `reason` says why, `resources` is what Pulumi knows of it (null: not known). Fails
 * as `takeDown` does.
 */
export async function sweepAway(
	folder: RigFolder,
	rig: Known,
	{ reason, resources }: { readonly reason: string; readonly resources: readonly string[] | null },
	doing: Pick<TakingDown, "world" | "say" | "clouds">,
): Promise<void> {
	const { id, cloud } = rig;
	// Finding nothing proves nothing if the account is not known.
	if (cloud === null || cloud.account === null) throw left(rig, resources, reason, doing.world);
	doing.say(
		`Pulumi could not take it down (${reason}). Removing what has the tag mqbench:run=${id} in ${cloud.region} ...`,
	);
	let swept: SweptRig;
	try {
		swept = await byTag({ id, ...cloud }, doing);
	} catch (error) {
		const why = `${reason}; removing it by its tag failed, too: ${whyOf(error)}`;
		throw left(rig, resources, why, doing.world);
	}
	const { removed, stays } = swept;
	if (stays.length > 0) throw left(rig, stays, reason, doing.world);
	// Two lists that contradict each other: believe neither.
	if (removed === 0 && resources !== null && resources.length > 0) {
		const why = `${reason}; and nothing has its tag`;
		throw left(rig, resources, why, doing.world);
	}
	await forgetDown(folder);
}

/** Nothing is left of it in the cloud, so its folder goes, too. Fails with `rig-unforgotten`. */
export async function forgetDown(folder: RigFolder): Promise<void> {
	try {
		await forget(folder);
	} catch (error) {
		throw failure("rig-unforgotten", { id: folder.id, path: folder.path, reason: reasonOf(error) });
	}
}

/** The failure that lists what is left. */
export function left(
	rig: Known,
	resources: readonly string[] | null,
	reason: string,
	world: World,
): MqbenchError {
	const { id, cloud, expiresAt } = rig;
	const { region = null, profile = null } = cloud ?? {};
	return failure("cloud-left", {
		text: leftText({ id, region, profile, expiresAt, resources, reason }, world.clock.nowMs()),
	});
}

/** The result of removing a rig by its tag. */
export interface SweptRig {
	/** How many things were there and are gone. */
	readonly removed: number;
	/** What is left, one line each. */
	readonly stays: readonly string[];
}

/** Removes what has the tag of a rig. Throws if the credentials are of another account. */
export async function sweepRig(
	{ id, ...cloud }: Cloud & { readonly id: string },
	world: World,
	say: (line: string) => void,
	clouds: Clouds = providerOf,
): Promise<SweptRig> {
	const { region, profile, owner } = cloud;
	const provider = await clouds(cloud.provider);
	const trouble = await accountTrouble(provider, cloud, world);
	if (trouble !== null) throw new Error(trouble.wrong);
	const tagged = await provider.find({ region, profile, owner, id }, world);
	const asked = { region, profile };
	const { removed, left } = await provider.remove(tagged, asked, world, say);
	return {
		removed: removed.length,
		stays: left.map(({ thing, reason }) => `${thingText(thing, world.clock.nowMs())}: ${reason}`),
	};
}

/** Why a rig must not be touched with the credentials in use. */
export interface AccountTrouble {
	/** A part of a sentence, with the account of the rig. */
	readonly wrong: string;
	/** false: the cloud did not say whose credentials they are. */
	readonly sure: boolean;
}

/**
 * Compares the rig's account with that of the credentials in use. A cloud shows nothing of a rig to other accounts, so mqbench would take it
 * for gone and forget machines that run. null: the accounts are the same, or the rig's is not known.
 */
export async function accountTrouble(
	provider: Pick<Provider, "name" | "account" | "profileVariable">,
	{ account, region, profile }: Pick<Cloud, "account" | "region" | "profile">,
	world: Pick<World, "env" | "stop">,
): Promise<AccountTrouble | null> {
	if (account === null) return null;
	const where = `it is in account ${account} of ${CLOUD_TITLES[provider.name]}`;
	let own: string;
	try {
		own = await provider.account({ region, profile }, world);
	} catch (error) {
		const words = error instanceof Error ? error.message : String(error);
		return {
			sure: false,
			wrong: `${where}, and mqbench could not find out whose credentials are in use (${words.replace(/\.$/, "")})`,
		};
	}
	return own === account
		? null
		: {
				sure: true,
				wrong: `${where}, and the credentials in use${profile === null ? "" : ` (profile ${profile})`} are of account ${own}, which sees nothing of it; use those of ${account} (such as ${provider.profileVariable})`,
			};
}

/** Why it failed, as a part of a sentence. */
export function whyOf(error: unknown): string {
	return (error instanceof Error ? error.message : String(error)).trim().replace(/\.$/, "");
}

// --- internal ---

async function all(stack: Stack): Promise<string[]> {
	return [...((await stack.resources()) ?? []), ...(await stack.unsure())];
}

/** One try. null: nothing is left; otherwise why something is. */
async function destroyed(stack: Stack, rig: Known, doing: TakingDown): Promise<string | null> {
	await destroy(stack, doing);
	if (((await stack.resources()) ?? []).length > 0) return "Pulumi could not remove them";
	const stays = await swept(stack, rig, doing);
	return stays.length === 0 ? null : stays.join("; ");
}

/** A killed Pulumi may have made things that are not in its state; only the tag shows them. Resolves with what is left. */
async function swept(
	stack: Stack,
	{ id, cloud }: Known,
	doing: TakingDown,
): Promise<readonly string[]> {
	const { say, againMs } = doing;
	const unsure = await stack.unsure();
	if (unsure.length === 0) return [];
	if (cloud === null) return ["nobody knows where to look for it"];
	say(
		`Pulumi was killed while it made something that may exist: looking for the tag mqbench:run=${id} in ${cloud.region} ...`,
	);
	const { stays } = await byTag({ id, ...cloud }, doing);
	if (stays.length > 0) return stays;
	say(`AWS may show late what was made last: looking again in ${Math.ceil(againMs / 1000)}s ...`);
	await sleep(againMs);
	return (await byTag({ id, ...cloud }, doing)).stays;
}

/** Does not stop for `world.stop`. */
function byTag(
	rig: Cloud & { readonly id: string },
	{ world, say, clouds }: Pick<TakingDown, "world" | "say" | "clouds">,
): Promise<SweptRig> {
	const { signal: stop } = new AbortController();
	return sweepRig(rig, { ...world, stop }, say, clouds);
}

/** Never asked to stop. A killed Pulumi has left its lock. */
async function destroy(stack: Stack, { say, abortMs }: TakingDown): Promise<void> {
	const { signal } = new AbortController();
	try {
		await stack.destroy({ signal, say });
	} catch (error) {
		if (!(error instanceof PulumiFailed && error.locked)) throw error;
		await endHolders(error, say, abortMs);
		say("Dropping the lock that a killed Pulumi has left.");
		await stack.cancel();
		await stack.destroy({ signal, say });
	}
}
