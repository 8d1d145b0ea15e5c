import { failure, MqbenchError } from "../../runner/errors.ts";
import { CLOUD_TITLES, CLOUDS } from "../../runner/model/targets.ts";
import { commandLine } from "../../runner/shell.ts";
import { orInterrupted } from "../../runner/stop.ts";
import type { World } from "../../runner/world.ts";
import { agreed } from "../ask.ts";
import { taggedText, thingText } from "./leftover.ts";
import type { Provider, SweepAsked, Swept, TaggedRig } from "./provider.ts";
import { type Clouds, providerOf } from "./providers.ts";
import { type KnownRig, knownRigs } from "./rigs.ts";
import { accountTrouble, forgetDown } from "./take-down.ts";

export interface SweepArgs {
	/** undefined: all regions that are enabled for the account. */
	readonly region?: string | undefined;
	readonly profile?: string | undefined;
	/** Only this rig, expired or not; otherwise all that have expired. */
	readonly id?: string | undefined;
	/** Whose expired rigs; default: the caller's own. */
	readonly owner?: string | undefined;
	readonly yes?: boolean | undefined;
}

/**
 * `mqbench rigs sweep`: finds rigs by their tags and removes them piece by piece, whether this machine remembers them or not. It looks in the
 * cloud of a remembered rig with that id, otherwise in all clouds, one after the other.
 */
export async function sweepRigs(
	args: SweepArgs,
	world: World,
	clouds: Clouds = providerOf,
): Promise<void> {
	const known = (await knownRigs(world)).find(({ folder }) => folder.id === args.id)?.file?.cloud
		?.provider;
	const where = known === undefined ? CLOUDS : [known];
	for (const cloud of where) {
		if (where.length > 1) world.stdout.write(`${CLOUD_TITLES[cloud]}:\n`);
		await sweepCloud(args, world, await clouds(cloud));
	}
}

// --- internal ---

async function sweepCloud(args: SweepArgs, world: World, cloud: Provider): Promise<void> {
	const { profile = null, id = null, owner = null } = args;
	const asked = { profile, id, owner };
	const seen = await look(args.region, asked, world, cloud);
	const chosen = seen.found.filter(({ rig }) => rig.chosen);
	const where = args.region ?? "all regions that could be looked at";
	if (chosen.length === 0) {
		const remark = id === null ? "" : await forgetGone(id, seen.regions, asked, world, cloud);
		world.stdout.write(
			`Nothing to remove in ${where}${id === null ? "" : ` of ${id}`}${remark}.\n`,
		);
	} else await sweepChosen(chosen, args, world, cloud);
	if (seen.refused.length > 0)
		throw failure("cloud-unfit", {
			wrong: seen.refused.map(({ region, reason }) => `${region} was not looked at: ${reason}`),
		});
}

/** A rig as a sweep has found it. */
interface Found {
	readonly region: string;
	readonly rig: TaggedRig;
}

interface Seen {
	readonly found: readonly Found[];
	/** Where was looked. */
	readonly regions: readonly string[];
	/** An account may forbid some regions to everybody; look at the others anyway. */
	readonly refused: readonly { readonly region: string; readonly reason: string }[];
}

/** Looks into one region or all of them, and reports what is there. */
async function look(
	region: string | undefined,
	asked: Omit<SweepAsked, "region">,
	world: World,
	cloud: Provider,
): Promise<Seen> {
	const nowMs = world.clock.nowMs();
	if (region !== undefined) {
		const rigs = await cloud.find({ region, ...asked }, world);
		world.stdout.write(taggedText(rigs, nowMs));
		return { found: rigs.map((rig) => ({ region, rig })), regions: [region], refused: [] };
	}
	const all = await cloud.regions(asked, world);
	const looks = await Promise.allSettled(
		all.map((at) => cloud.find({ region: at, ...asked }, world)),
	);
	orInterrupted(world.stop);
	const found: Found[] = [];
	const regions: string[] = [];
	const refused: { region: string; reason: string }[] = [];
	for (const [i, at] of all.entries()) {
		const one = looks[i];
		if (one?.status === "rejected") {
			if (!(one.reason instanceof MqbenchError)) throw one.reason;
			refused.push({ region: at, reason: one.reason.message });
			continue;
		}
		const rigs = one?.value ?? [];
		regions.push(at);
		for (const rig of rigs) found.push({ region: at, rig });
		if (rigs.length > 0) world.stdout.write(`In ${at}:\n${taggedText(rigs, nowMs)}`);
	}
	if (found.length === 0)
		world.stdout.write(
			`Nothing has the tag mqbench:run in ${regions.length} of ${all.length} regions that were looked at.\n`,
		);
	return { found, regions, refused };
}

/** Removes what was chosen, after asking; then forgets those that are remembered here. */
async function sweepChosen(
	free: readonly Found[],
	args: SweepArgs,
	world: World,
	cloud: Provider,
): Promise<void> {
	const { profile = null, yes = false } = args;
	const count = free.reduce((sum, { rig }) => sum + rig.things.length, 0);
	const what = `${count} ${count === 1 ? "thing" : "things"} of ${free.map(({ rig }) => rig.id).join(", ")}`;
	if (!yes && !(await agreed(`Remove ${what}?`, world))) {
		world.stdout.write("Nothing was removed.\n");
		return;
	}
	const say = (line: string) => void world.stderr.write(`${line}\n`);
	const again = `Try again: ${againCommand(args, free)}`;
	const regions = [...new Set(free.map(({ region }) => region))];
	const where = regions.join(", ");
	const some = `Of ${what} in ${where} some may be left. ${again}`;
	world.leaving?.(some);
	const swept: Swept[] = [];
	try {
		for (const region of regions) {
			const rigs = free.filter((one) => one.region === region).map(({ rig }) => rig);
			swept.push(await cloud.remove(rigs, { region, profile }, world, say));
		}
	} catch (error) {
		// Whatever stopped it, a part is gone by now and a part is not.
		const why = error instanceof Error ? error.message : String(error);
		throw failure("cloud-left", { text: `${why}\n${some}` });
	} finally {
		world.leaving?.(null);
	}
	const removed = swept.flatMap((one) => one.removed);
	const left = swept.flatMap((one) => one.left);
	world.stdout.write(`Removed ${removed.length} ${removed.length === 1 ? "thing" : "things"}.\n`);
	if (left.length > 0)
		throw failure("cloud-left", {
			text: [
				`${left.length} of ${count} ${left.length === 1 ? "is" : "are"} left in ${where}:`,
				...left.map(({ thing, reason }) => `  ${thingText(thing, world.clock.nowMs())}: ${reason}`),
				again,
			].join("\n"),
		});
	for (const known of await knownRigs(world))
		if (
			free.some(
				({ rig, region }) => rig.id === known.folder.id && region === known.file?.cloud?.region,
			)
		)
			await forgetSwept(known, true, profile, world, cloud);
}

/** For a rig that AWS does not show: what people are told about its folder, as a part of a sentence. */
async function forgetGone(
	id: string,
	regions: readonly string[],
	{ profile }: Pick<SweepAsked, "profile">,
	world: World,
	cloud: Provider,
): Promise<string> {
	const rigs = await knownRigs(world);
	const known = rigs.find(({ folder }) => folder.id === id);
	// Looking here says nothing about a rig that is elsewhere.
	const at = known?.file?.cloud?.region;
	if (known === undefined || at === undefined || !regions.includes(at)) return "";
	return (await forgetSwept(known, false, profile, world, cloud))
		? "; its folder here is gone, too"
		: `; ${known.folder.path} stays, because its account is not known`;
}

/**
 * Forgets a remembered rig that AWS no longer has. false: that is not certain. `tagged`: AWS had something of it. Fails with `cloud-left` if it
 * is in another account, which nobody has looked into.
 */
async function forgetSwept(
	{ folder, file }: KnownRig,
	tagged: boolean,
	profile: string | null,
	world: World,
	cloud: Provider,
): Promise<boolean> {
	if (file?.cloud == null) return false;
	const { account, region } = file.cloud;
	if (account === null && !tagged) return false;
	const trouble = await accountTrouble(cloud, { account, region, profile }, world);
	if (trouble !== null)
		throw failure("cloud-left", {
			text: `The rig ${folder.id} is remembered here and may still exist: ${trouble.wrong}.\nTake it down: mqbench rigs destroy ${commandLine([folder.id])}`,
		});
	await forgetDown(folder);
	return true;
}

function againCommand({ profile, id, owner }: SweepArgs, chosen: readonly Found[]): string {
	const ids = new Set(chosen.map(({ rig }) => rig.id));
	const regions = new Set(chosen.map(({ region }) => region));
	const [one] = ids.size === 1 ? ids : [id];
	const [region] = regions.size === 1 ? regions : [];
	return [
		"mqbench rigs sweep",
		...(region === undefined ? [] : [`--region ${region}`]),
		...(one === undefined ? [] : [`--id ${one}`]),
		...(profile === undefined ? [] : [`--profile ${profile}`]),
		...(owner === undefined ? [] : [`--owner ${owner}`]),
	].join(" ");
}
