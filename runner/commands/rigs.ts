import path from "node:path";
import { stringify } from "yaml";
import { accountInUse, accountTrouble } from "../../infra/cloud/account.ts";
import { type Hold, heldBy, hold } from "../../infra/cloud/hold.ts";
import { machinesText, timeText } from "../../infra/cloud/leftover.ts";
import {
	type CloudOptions,
	destroyCloud,
} from "../../infra/cloud/lifecycle.ts";
import {
	forgetUnmade,
	type KnownRig,
	knownRig,
	knownRigs,
	rigsFolder,
} from "../../infra/cloud/rigs.ts";
import { awsFolder } from "../../infra/cloud/sdk.ts";
import {
	enabledRegions,
	findTagged,
	removeTagged,
	type SweepAsked,
	type Swept,
	type TaggedRig,
	taggedText,
	thingText,
} from "../../infra/cloud/sweep.ts";
import { forgetDown } from "../../infra/cloud/take-down.ts";
import { EXIT, type ExitCode, failure, MqbenchError } from "../errors.ts";
import { readScenario } from "../scenario/read.ts";
import { formatDuration } from "../units.ts";
import type { World } from "../world.ts";
import { rentalOf } from "./rental.ts";
import { type CloudSide, offerFor, theCloud } from "./rented.ts";
import { endOf } from "./rig-end.ts";

export interface RigsListArgs {
	/** For programs: a list of rigs. */
	readonly json?: boolean | undefined;
}

/** `mqbench rigs list`: what is rented, as far as this machine remembers. */
export async function rigsList(
	world: World,
	{ json = false }: RigsListArgs = {},
): Promise<ExitCode> {
	await forgetUnmade(world);
	const rigs = await knownRigs(world);
	if (json) {
		const listed = await Promise.all(rigs.map(forPrograms));
		world.stdout.write(`${JSON.stringify(listed, null, "\t")}\n`);
		return EXIT.pass;
	}
	if (rigs.length === 0) {
		world.stdout.write(
			`No rigs are known here (${rigsFolder(world)}).\nOf another machine, or of a state that was lost: mqbench rigs sweep\n`,
		);
		return EXIT.pass;
	}
	const nowMs = world.clock.nowMs();
	const whole = rigs.filter(({ file }) => file !== null);
	const rows = await Promise.all(whole.map((rig) => row(rig, nowMs)));
	if (rows.length > 0) world.stdout.write(table([HEADS, ...rows]));
	const over = whole.filter(
		({ file }) => file !== null && isOver(endOf(file), nowMs),
	);
	if (over.length > 0)
		world.stdout.write(
			`Machines past that time were to end themselves; what is no machine (networks, keys) is there until it is taken down.\n`,
		);
	for (const { folder, trouble } of rigs)
		if (trouble !== null)
			world.stdout.write(
				`${folder.path}: ${trouble}. If it was a rig: mqbench rigs destroy ${folder.id}\n`,
			);
	world.stdout.write("Take one down: mqbench rigs destroy <rig>\n");
	return EXIT.pass;
}

export interface RigsDestroyArgs {
	readonly id?: string | undefined;
	/** All that no other mqbench has. */
	readonly all?: boolean | undefined;
	readonly yes?: boolean | undefined;
}

/** `mqbench rigs destroy`: takes down what this machine remembers of a rig, however far it got; or all that nobody else has. */
export async function rigsDestroy(
	{ id, all = false, yes = false }: RigsDestroyArgs,
	world: World,
	options: CloudOptions = {},
): Promise<ExitCode> {
	if (all !== (id === undefined))
		throw failure("usage", {
			message: all
				? `rigs destroy ${id} --all: give the name of one rig, or --all`
				: "rigs destroy: which one? mqbench rigs list names them; --all takes down all of them",
		});
	if (id === undefined) return destroyAll(yes, world, options);
	const rig = await knownRig(id, world);
	if (!yes && !(await agreed(`Take down ${nameOf(rig)}?`, world))) {
		world.stdout.write("Nothing was taken down.\n");
		return EXIT.pass;
	}
	await destroyCloud(id, world, { ...options, yes });
	world.stdout.write(downText(id));
	return EXIT.pass;
}

export interface RigsSweepArgs {
	/** undefined: all that are enabled for the account. */
	readonly region?: string | undefined;
	readonly profile?: string | undefined;
	/** Of the one rig, expired or not; else all that have expired. */
	readonly id?: string | undefined;
	/** Whose expired rigs; default: the caller's own. */
	readonly owner?: string | undefined;
	readonly yes?: boolean | undefined;
}

/** AWS's side of a sweep; tests pass a fake. */
export interface SweepSide {
	readonly regions: typeof enabledRegions;
	readonly find: typeof findTagged;
	readonly remove: typeof removeTagged;
	readonly account: typeof accountInUse;
}

const theAws: SweepSide = {
	regions: enabledRegions,
	find: findTagged,
	remove: removeTagged,
	account: accountInUse,
};

/** `mqbench rigs sweep`: finds rigs by their tags, whoever remembers them, and removes them piece by piece. */
export async function rigsSweep(
	args: RigsSweepArgs,
	world: World,
	side: Partial<SweepSide> = {},
): Promise<ExitCode> {
	const aws = { ...theAws, ...side };
	const { profile = null, id = null, owner = null } = args;
	const asked = { profile, id, owner };
	const seen = await look(args.region, asked, world, aws);
	const chosen = seen.found.filter(({ rig }) => rig.chosen);
	const where = args.region ?? "all regions that could be looked at";
	if (chosen.length === 0) {
		const told =
			id === null ? "" : await forgetGone(id, seen.regions, asked, world, aws);
		world.stdout.write(
			`Nothing is to be removed in ${where}${id === null ? "" : ` of ${id}`}${told}.\n`,
		);
	} else await sweepChosen(chosen, args, world, aws);
	if (seen.refused.length > 0)
		throw failure("aws-unfit", {
			wrong: seen.refused.map(
				({ region, reason }) => `${region} was not looked at: ${reason}`,
			),
		});
	return EXIT.pass;
}

export interface RigsConfigArgs {
	/** Path of the scenario file. */
	readonly path: string;
	readonly set?: readonly string[] | undefined;
	readonly clients?: string | undefined;
	readonly only?: string | undefined;
}

/** `mqbench rigs config`: what the Pulumi program is told for a scenario, for people who run `pulumi up` by hand. Rents nothing. */
export async function rigsConfig(
	args: RigsConfigArgs,
	world: World,
	cloud: CloudSide = theCloud,
): Promise<ExitCode> {
	const { scenario } = await readScenario(
		args.path,
		{ ...args, target: "aws" },
		world,
	);
	const rental = rentalOf(scenario, args);
	if (rental === null) throw new Error("target aws rents machines");
	const { config } = await offerFor(rental, world, cloud);
	world.stdout.write(`# Configuration of Pulumi for ${args.path}. By hand, in ${awsFolder}:
#   npm ci
#   ssh-keygen -t ed25519 -N '' -f id_ed25519
#   pulumi login --local
#   pulumi stack init ${config.id}
# Append what is below to Pulumi.${config.id}.yaml, with the line of id_ed25519.pub as publicKey. Then:
#   pulumi up
#   pulumi stack output rig --json > rig.json
#   mqbench ${args.path} --rig ${path.join(awsFolder, "rig.json")}
#   pulumi destroy
# The machines end themselves ${config.ttlMinutes} minutes after their start; expiresAt counts from now.
${stringify({
	config: {
		"mqbench:rig": {
			...config,
			publicKey: "<the line of id_ed25519.pub>",
			identity: "id_ed25519",
			knownHosts: "known_hosts",
		},
	},
})}`);
	return EXIT.pass;
}

// --- internal ---

const HEADS = ["RIG", "PHASE", "REGION", "MACHINES", "$/H", "AGE", "ENDS"];

async function row(
	{ folder, file }: KnownRig,
	nowMs: number,
): Promise<string[]> {
	if (file?.cloud == null) return [];
	const { cloud, createdAt } = file;
	const end = endOf(file);
	const doing = await heldBy(folder);
	return [
		folder.id,
		`${cloud.phase}${doing === null ? "" : ", in use"}`,
		cloud.region,
		machinesText(cloud.machines),
		cloud.hourlyUsd === null
			? "not known"
			: `${cloud.phase === "ready" && !isOver(end, nowMs) ? "" : "up to "}${cloud.hourlyUsd.toFixed(2)}`,
		createdAt === undefined
			? "not known"
			: spanText(nowMs - Date.parse(createdAt)),
		end === null
			? "not known"
			: `${timeText(end)}${isOver(end, nowMs) ? ", over" : `, in ${spanText(Date.parse(end) - nowMs)}`}`,
	];
}

/** What `rigs list --json` says of a rig; null: not known. */
async function forPrograms({ folder, file, trouble }: KnownRig) {
	const { cloud = null, createdAt = null, expiresAt = null } = file ?? {};
	return {
		id: folder.id,
		phase: cloud?.phase ?? null,
		/** What another mqbench does with it; null: none has it. */
		inUse: await heldBy(folder),
		region: cloud?.region ?? null,
		profile: cloud?.profile ?? null,
		account: cloud?.account ?? null,
		machines: cloud?.machines ?? null,
		hourlyUsd: cloud?.hourlyUsd ?? null,
		createdAt,
		endsAt: cloud?.endsAt ?? null,
		expiresAt,
		folder: folder.path,
		trouble,
	};
}

function downText(id: string): string {
	return `The rig ${id} is down; nothing of it is left.\n`;
}

/** One behind the other; one that does not go does not keep the others. */
async function destroyAll(
	yes: boolean,
	world: World,
	options: CloudOptions,
): Promise<ExitCode> {
	await forgetUnmade(world);
	const free: KnownRig[] = [];
	for (const rig of await knownRigs(world)) {
		const doing = await heldBy(rig.folder);
		if (doing === null) free.push(rig);
		else
			world.stdout.write(`${rig.folder.id} stays: another mqbench ${doing}.\n`);
	}
	if (free.length === 0) {
		world.stdout.write("There is no rig to take down.\n");
		return EXIT.pass;
	}
	const names = free.map(nameOf).join(", ");
	if (!yes && !(await agreed(`Take down ${names}?`, world))) {
		world.stdout.write("Nothing was taken down.\n");
		return EXIT.pass;
	}
	const failed: unknown[] = [];
	for (const [i, { folder }] of free.entries()) {
		if (world.stop.aborted) {
			const rest = free.slice(i).map((rig) => rig.folder.id);
			failed.push(
				failure("cloud-left", {
					text: `Stopped by ${world.stop.reason} before ${rest.join(", ")} ${rest.length === 1 ? "was" : "were"} taken down.\nTake down what is left: mqbench rigs destroy --all`,
				}),
			);
			break;
		}
		try {
			await destroyCloud(folder.id, world, { ...options, yes });
			world.stdout.write(downText(folder.id));
		} catch (error) {
			failed.push(error);
		}
	}
	throwAll(failed);
	return EXIT.pass;
}

/** All that went wrong at once; that something is left in the cloud beats the rest. */
function throwAll(failed: readonly unknown[]): void {
	const known = failed.filter((error) => error instanceof MqbenchError);
	const bug = failed.find((error) => !(error instanceof MqbenchError));
	const worst = known.find(({ exit }) => exit === EXIT.leftBehind) ?? known[0];
	if (worst?.exit !== EXIT.leftBehind && bug !== undefined) throw bug;
	if (worst === undefined) return;
	const text = failed
		.map((error) => (error instanceof Error ? error.message : String(error)))
		.join("\n");
	throw new MqbenchError(worst.code, text, worst.exit);
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
	/** An account may forbid some regions to everybody: the others are looked at all the same. */
	readonly refused: readonly {
		readonly region: string;
		readonly reason: string;
	}[];
}

/** Looks into one region or all of them, and tells what there is. */
async function look(
	region: string | undefined,
	asked: Omit<SweepAsked, "region">,
	world: World,
	aws: SweepSide,
): Promise<Seen> {
	const nowMs = world.clock.nowMs();
	if (region !== undefined) {
		const rigs = await aws.find({ region, ...asked }, world);
		world.stdout.write(taggedText(rigs, nowMs));
		return {
			found: rigs.map((rig) => ({ region, rig })),
			regions: [region],
			refused: [],
		};
	}
	const all = await aws.regions(asked, world);
	const looks = await Promise.allSettled(
		all.map((at) => aws.find({ region: at, ...asked }, world)),
	);
	if (world.stop.aborted)
		throw failure("interrupted", { signal: `${world.stop.reason}` });
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
		found.push(...rigs.map((rig) => ({ region: at, rig })));
		if (rigs.length > 0)
			world.stdout.write(`In ${at}:\n${taggedText(rigs, nowMs)}`);
	}
	if (found.length === 0)
		world.stdout.write(
			`Nothing carries the tag mqbench:run in ${regions.length} of ${all.length} regions that were looked at.\n`,
		);
	return { found, regions, refused };
}

/** Removes what was chosen, after asking, but for what an mqbench here has; forgets it then. */
async function sweepChosen(
	all: readonly Found[],
	args: RigsSweepArgs,
	world: World,
	aws: SweepSide,
): Promise<void> {
	const { profile = null, yes = false } = args;
	const { free, holds } = await takeKnown(all, args.id !== undefined, world);
	try {
		if (free.length === 0) {
			world.stdout.write("Nothing is to be removed.\n");
			return;
		}
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
				const rigs = free
					.filter((one) => one.region === region)
					.map(({ rig }) => rig);
				swept.push(await aws.remove(rigs, { region, profile }, world, say));
			}
		} catch (error) {
			// Whatever stopped it: some of it is gone by now, and some is not.
			const why = error instanceof Error ? error.message : String(error);
			throw failure("cloud-left", { text: `${why}\n${some}` });
		} finally {
			world.leaving?.(null);
		}
		const removed = swept.flatMap((one) => one.removed);
		const left = swept.flatMap((one) => one.left);
		world.stdout.write(
			`Removed ${removed.length} ${removed.length === 1 ? "thing" : "things"}.\n`,
		);
		if (left.length > 0)
			throw failure("cloud-left", {
				text: [
					`${left.length} of ${count} ${left.length === 1 ? "is" : "are"} left in ${where}:`,
					...left.map(
						({ thing, reason }) =>
							`  ${thingText(thing, world.clock.nowMs())}: ${reason}`,
					),
					again,
				].join("\n"),
			});
		for (const { known } of holds)
			await forgetSwept(known, true, profile, world, aws);
	} finally {
		for (const { held } of holds) await held.release();
	}
}

/** Takes those that are remembered here, so that nobody measures on what is being removed. What another mqbench has stays. */
async function takeKnown(
	all: readonly Found[],
	byId: boolean,
	world: World,
): Promise<{
	free: Found[];
	holds: { known: KnownRig; held: Hold }[];
}> {
	const remembered = await knownRigs(world);
	const free: Found[] = [];
	const holds: { known: KnownRig; held: Hold }[] = [];
	for (const one of all) {
		const known = remembered.find(
			({ folder, file }) =>
				folder.id === one.rig.id && file?.cloud?.region === one.region,
		);
		try {
			// Two owners may have a rig of one name: it is one folder all the same.
			if (known && !holds.some((other) => other.known === known))
				holds.push({
					known,
					held: await hold(known.folder, "is removing it by its tag"),
				});
			free.push(one);
		} catch (error) {
			const inUse =
				error instanceof MqbenchError && error.code === "cloud-held";
			if (!inUse || byId) {
				for (const { held } of holds) await held.release();
				throw error;
			}
			world.stdout.write(`${one.rig.id} stays. ${error.message}\n`);
		}
	}
	return { free, holds };
}

/** Whole minutes: nobody counts seconds of machines. */
function spanText(ms: number): string {
	return ms < 60_000
		? "under 1min"
		: formatDuration(Math.floor(ms / 60_000) * 60e9);
}

function isOver(expiresAt: string | null | undefined, nowMs: number): boolean {
	return expiresAt != null && Date.parse(expiresAt) <= nowMs;
}

function table(rows: readonly (readonly string[])[]): string {
	const widths = HEADS.map((_, i) =>
		Math.max(...rows.map((cells) => cells[i]?.length ?? 0)),
	);
	return rows
		.map((cells) =>
			cells
				.map((cell, i) => cell.padEnd(widths[i] ?? 0))
				.join("  ")
				.trimEnd(),
		)
		.map((line) => `${line}\n`)
		.join("");
}

function nameOf({ folder, file, trouble }: KnownRig): string {
	if (file?.cloud == null) return `the rig ${folder.id} (${trouble})`;
	return `the rig ${folder.id} in ${file.cloud.region} (${machinesText(file.cloud.machines)})`;
}

async function agreed(question: string, world: World): Promise<boolean> {
	if (world.ask === null)
		throw failure("usage", {
			message: `${question} Nobody is there to be asked: say --yes.`,
		});
	const answer = await world.ask(`${question} [y/N] `);
	if (world.stop.aborted)
		throw failure("interrupted", { signal: `${world.stop.reason}` });
	return /^y(es)?$/i.test(answer.trim());
}

/** Of a rig of which AWS has shown nothing. What people are told of its folder, as a part of a sentence. */
async function forgetGone(
	id: string,
	regions: readonly string[],
	{ profile }: Pick<SweepAsked, "profile">,
	world: World,
	aws: SweepSide,
): Promise<string> {
	const rigs = await knownRigs(world);
	const known = rigs.find(({ folder }) => folder.id === id);
	// Of one that is elsewhere nothing is known by looking here.
	const at = known?.file?.cloud?.region;
	if (known === undefined || at === undefined || !regions.includes(at))
		return "";
	const held = await hold(known.folder, "sees that nothing of it is left");
	try {
		return (await forgetSwept(known, false, profile, world, aws))
			? "; its folder here is gone, too"
			: `; ${known.folder.path} stays, as the account that it is in is not known`;
	} finally {
		await held.release();
	}
}

/**
 * What is remembered of a rig of which AWS has nothing any more helps nobody. false: that is not sure. `found`: AWS has had something of it.
 * Fails with `cloud-left` where it is in another account, which nobody has looked into.
 */
async function forgetSwept(
	{ folder, file }: KnownRig,
	found: boolean,
	profile: string | null,
	world: World,
	aws: SweepSide,
): Promise<boolean> {
	if (file?.cloud == null) return false;
	const { account, region } = file.cloud;
	if (account === null && !found) return false;
	const trouble = await accountTrouble(
		{ account, region, profile },
		world,
		aws.account,
	);
	if (trouble !== null)
		throw failure("cloud-left", {
			text: `The rig ${folder.id} is remembered here, and may be there: ${trouble.wrong}.\nTake it down: mqbench rigs destroy ${folder.id}`,
		});
	await forgetDown(folder);
	return true;
}

function againCommand(
	{ profile, id, owner }: RigsSweepArgs,
	chosen: readonly Found[],
): string {
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
