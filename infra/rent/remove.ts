import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { EXIT, failure, MqbenchError } from "../../runner/errors.ts";
import type { RigFile } from "../../runner/scenario/rig-file.ts";
import { orInterrupted } from "../../runner/stop.ts";
import { formatUtc, plural } from "../../runner/units.ts";
import type { World } from "../../runner/world.ts";
import { agreed } from "../ask.ts";
import { callerOf, homeOf } from "./api.ts";
import { forget, type KnownRig, knownRig, knownRigs } from "./rigs.ts";
import { enabledRegions, findTagged } from "./tagged.ts";
import {
	type CloudOptions,
	isOver,
	type Known,
	left,
	machinesText,
	takeDown,
} from "./take-down.ts";

/** `mqbench rigs destroy`: takes down one remembered rig, or all (`id` undefined), in whatever state they are, after asking. */
export async function destroyRigs(
	id: string | undefined,
	yes: boolean,
	world: World,
	options: CloudOptions,
): Promise<void> {
	const rigs = id === undefined ? await knownRigs(world) : [await knownRig(id, world)];
	if (rigs.length === 0) return void world.stdout.write("There is no rig to take down.\n");
	const names = rigs.map(({ folder, file, trouble }) =>
		file?.cloud == null
			? `the rig ${folder.id} (${trouble})`
			: `the rig ${folder.id} in ${file.cloud.region} (${machinesText(file.cloud.machines)})`,
	);
	if (!yes && !(await agreed(`Take down ${names.join(", ")}?`, world)))
		return void world.stdout.write("Nothing was taken down.\n");
	await eachDown(
		rigs.map((rig) => [rig.folder.id, () => destroy(rig, world, options)] as const),
		world,
	);
}

/** `mqbench down`: takes down the rented rig of a rig.json. Resolves when nothing of it is left. */
export async function downInCloud(
	rig: RigFile,
	file: string,
	world: World,
	options: CloudOptions = {},
): Promise<void> {
	const state = rig.cloud?.state ?? null;
	// Its state is not ours, so it cannot be taken down here.
	if (state === null)
		throw failure("usage", {
			message: `${file}: the machines of ${rig.id} were stood up by hand, and go the same way: pulumi destroy where pulumi up was run`,
		});
	// The state folder of the command that stood it up, which may have had another MQBENCH_STATE_DIR.
	const there = { ...world.env, MQBENCH_STATE_DIR: path.dirname(path.dirname(state)) };
	const rigs = await knownRigs({ ...world, env: there });
	const known = rigs.find(({ folder }) => folder.id === rig.id);
	if (known !== undefined) return destroy(known, world, options);
	// The state folder has no record of it, but everything that is left has its tag.
	await takeDown(rig, null, options, world);
}

/** Without a region, all enabled ones; without an id, all that have expired and belong to the owner, by default the caller. */
export interface SweepArgs {
	readonly region?: string | undefined;
	readonly profile?: string | undefined;
	readonly id?: string | undefined;
	readonly owner?: string | undefined;
	readonly yes?: boolean | undefined;
}

/**
 * `mqbench rigs sweep`: finds rigs by their tags, and removes them piece by piece after asking, whether this machine remembers them or not.
 * Forgets remembered ones that are certainly gone.
 */
export async function sweepRigs(
	args: SweepArgs,
	world: World,
	options: CloudOptions = {},
): Promise<void> {
	const { id, yes = false } = args;
	const { chosen, looked, refused } = await look(args, world);
	const known = await knownRigs(world);
	const inRegion = (region: string | undefined) => looked.includes(region ?? "");
	// A rig that AWS does not show is gone if it was where mqbench looked, and in this account.
	const gone = known.flatMap(({ file }) =>
		file?.id === id && file?.cloud != null && inRegion(file.cloud.region) ? [file] : [],
	);
	const rigs: Known[] = chosen.length > 0 || id === undefined ? chosen : gone;
	if (chosen.length === 0)
		world.stdout.write(`Nothing to remove${id === undefined ? "" : ` of ${id}`}.\n`);
	else if (!yes && !(await agreed(`Remove ${chosen.map((rig) => rig.id).join(", ")}?`, world)))
		return void world.stdout.write("Nothing was removed.\n");
	const remove = async (rig: Known) => {
		orInterrupted(world.stop);
		await takeDown(rig, null, options, world);
		for (const { folder, file } of known)
			if (folder.id === rig.id && inRegion(file?.cloud?.region ?? rig.cloud?.region))
				await forget(folder);
	};
	await eachDown(
		rigs.map((rig) => [rig.id, () => remove(rig)] as const),
		world,
	);
	if (refused.length > 0) throw failure("cloud-unfit", { wrong: refused });
}

// --- internal ---

/** One after the other; a failure does not stop the next ones. If anything is left, the exit code shows it. */
async function eachDown(
	rigs: readonly (readonly [id: string, down: () => Promise<void>])[],
	{ stdout }: World,
): Promise<void> {
	const failed: MqbenchError[] = [];
	for (const [id, down] of rigs)
		try {
			await down();
			stdout.write(`The rig ${id} is down; nothing of it is left.\n`);
		} catch (error) {
			if (!(error instanceof MqbenchError)) throw error;
			failed.push(error);
		}
	const worst = failed.find(({ exit }) => exit === EXIT.leftBehind) ?? failed[0];
	const text = failed.map(({ message }) => message).join("\n");
	if (worst !== undefined) throw new MqbenchError(worst.code, text, worst.exit);
}

async function destroy(
	{ folder, file }: KnownRig,
	world: World,
	options: CloudOptions,
): Promise<void> {
	// rig.json is stored before Pulumi is asked for anything.
	const asked = existsSync(folder.pulumi) && readdirSync(folder.pulumi).length > 0;
	if (file === null && !asked) return forget(folder);
	const rig = file ?? { id: folder.id, cloud: null, expiresAt: null };
	if (world.stop.aborted)
		throw left(rig, `stopped by ${world.stop.reason} before it began`, [], world);
	await takeDown(rig, folder, options, world);
}

/** Looks into one region or all of them, prints the rigs there, and chooses. */
async function look(
	{ region, id, owner, profile: named }: SweepArgs,
	world: World,
): Promise<{ chosen: Known[]; looked: string[]; refused: string[] }> {
	const profile = named ?? null;
	const home = homeOf(region ?? world.env.AWS_REGION ?? "");
	const caller = await callerOf({ region: home, profile }, world);
	const regions = region === undefined ? await enabledRegions(profile, world) : [region];
	const answers = await Promise.allSettled(
		regions.map((one) => findTagged({ region: one, profile }, id ?? null, world)),
	);
	orInterrupted(world.stop);
	const chosen: Known[] = [];
	const looked: string[] = [];
	const refused: string[] = [];
	for (const [i, answer] of answers.entries()) {
		const at = regions[i] ?? "";
		if (answer.status === "rejected") {
			if (!(answer.reason instanceof MqbenchError)) throw answer.reason;
			// An account may forbid some regions entirely; look at the others anyway.
			refused.push(`${at} was not looked at: ${answer.reason.message}`);
			continue;
		}
		looked.push(at);
		for (const { things, expiresAt, ...rig } of answer.value) {
			const expired = isOver(expiresAt, world.clock.nowMs());
			const goes = id !== undefined || (expired && rig.owner === (owner ?? caller.name));
			const cloud = { region: at, profile, account: caller.account };
			if (goes) chosen.push({ id: rig.id, expiresAt, cloud });
			const when = `${expired ? "expired" : "expires"} ${formatUtc(expiresAt ?? "")} UTC`;
			const about = `${at}, owner ${rig.owner || "not known"}, ${expiresAt === null ? "expiry not known" : when}`;
			world.stdout.write(`${rig.id}  ${about}${goes ? "" : ", stays"}\n`);
			for (const thing of things) world.stdout.write(`  ${thing}\n`);
		}
	}
	const all = plural(looked.length, "region");
	if (region === undefined) world.stdout.write(`Looked into ${all} of ${regions.length}.\n`);
	return { chosen, looked, refused };
}
