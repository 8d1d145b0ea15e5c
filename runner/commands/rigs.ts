import path from "node:path";
import { stringify } from "yaml";
import { heldBy, hold } from "../../infra/cloud/hold.ts";
import { machinesText, timeText } from "../../infra/cloud/leftover.ts";
import {
	type CloudOptions,
	destroyCloud,
} from "../../infra/cloud/lifecycle.ts";
import {
	forget,
	forgetUnmade,
	type KnownRig,
	knownRig,
	knownRigs,
	rigsFolder,
} from "../../infra/cloud/rigs.ts";
import { awsFolder } from "../../infra/cloud/sdk.ts";
import {
	findTagged,
	removeTagged,
	type TaggedRig,
	taggedText,
	thingText,
} from "../../infra/cloud/sweep.ts";
import { EXIT, type ExitCode, failure } from "../errors.ts";
import { readScenario } from "../scenario/read.ts";
import { formatDuration } from "../units.ts";
import type { World } from "../world.ts";
import { rentalOf } from "./rental.ts";
import { type CloudSide, offerFor, theCloud } from "./rented.ts";

/** `mqbench rigs list`: what is rented, as far as this machine remembers. */
export async function rigsList(world: World): Promise<ExitCode> {
	await forgetUnmade(world);
	const rigs = await knownRigs(world);
	if (rigs.length === 0) {
		world.stdout.write(
			`No rigs are known here (${rigsFolder(world)}).\nOf another machine, or of a state that was lost: mqbench rigs sweep --region <region>\n`,
		);
		return EXIT.pass;
	}
	const nowMs = world.clock.nowMs();
	const whole = rigs.filter(({ file }) => file !== null);
	const rows = await Promise.all(whole.map((rig) => row(rig, nowMs)));
	if (rows.length > 0) world.stdout.write(table([HEADS, ...rows]));
	const expired = whole.filter(({ file }) => isOver(file?.expiresAt, nowMs));
	if (expired.length > 0)
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
	readonly id: string;
	readonly yes?: boolean | undefined;
}

/** `mqbench rigs destroy`: takes down what this machine remembers of a rig, however far it got. */
export async function rigsDestroy(
	{ id, yes = false }: RigsDestroyArgs,
	world: World,
	options: CloudOptions = {},
): Promise<ExitCode> {
	const rig = await knownRig(id, world);
	if (!yes && !(await agreed(`Take down ${nameOf(rig)}?`, world))) {
		world.stdout.write("Nothing was taken down.\n");
		return EXIT.pass;
	}
	await destroyCloud(id, world, { ...options, yes });
	world.stdout.write(`The rig ${id} is down; nothing of it is left.\n`);
	return EXIT.pass;
}

export interface RigsSweepArgs {
	readonly region: string;
	readonly profile?: string | undefined;
	/** Of the one rig, expired or not; else all that have expired. */
	readonly id?: string | undefined;
	/** Whose expired rigs; default: the caller's own. */
	readonly owner?: string | undefined;
	readonly yes?: boolean | undefined;
}

/** AWS's side of a sweep; tests pass a fake. */
export interface SweepSide {
	readonly find: typeof findTagged;
	readonly remove: typeof removeTagged;
}

/** `mqbench rigs sweep`: finds rigs by their tags, whoever remembers them, and removes them piece by piece. */
export async function rigsSweep(
	args: RigsSweepArgs,
	world: World,
	aws: SweepSide = { find: findTagged, remove: removeTagged },
): Promise<ExitCode> {
	const { region, profile = null, id = null, owner = null, yes = false } = args;
	const asked = { region, profile, id, owner };
	const found = await aws.find(asked, world);
	world.stdout.write(taggedText(found, world.clock.nowMs()));
	const chosen = found.filter((rig) => rig.chosen);
	if (chosen.length === 0) {
		const known = id === null ? false : await forgetSwept(id, region, world);
		world.stdout.write(
			`Nothing is to be removed in ${region}${id === null ? "" : ` of ${id}${known ? "; its folder here is gone, too" : ""}`}.\n`,
		);
		return EXIT.pass;
	}
	const count = chosen.reduce((sum, { things }) => sum + things.length, 0);
	const what = `${count} ${count === 1 ? "thing" : "things"} of ${chosen.map((rig) => rig.id).join(", ")}`;
	if (!yes && !(await agreed(`Remove ${what}?`, world))) {
		world.stdout.write("Nothing was removed.\n");
		return EXIT.pass;
	}
	const say = (line: string) => void world.stderr.write(`${line}\n`);
	const again = `Try again: ${againCommand(args, chosen)}`;
	const some = `Of ${what} in ${region} some may be left. ${again}`;
	world.leaving?.(some);
	const { removed, left } = await aws
		.remove(chosen, asked, world, say)
		.catch((error: unknown) => {
			// Whatever stopped it: some of it is gone by now, and some is not.
			const why = error instanceof Error ? error.message : String(error);
			throw failure("cloud-left", { text: `${why}\n${some}` });
		})
		.finally(() => world.leaving?.(null));
	world.stdout.write(
		`Removed ${removed.length} ${removed.length === 1 ? "thing" : "things"}.\n`,
	);
	if (left.length > 0)
		throw failure("cloud-left", {
			text: [
				`${left.length} of ${count} ${left.length === 1 ? "is" : "are"} left in ${region}:`,
				...left.map(
					({ thing, reason }) =>
						`  ${thingText(thing, world.clock.nowMs())}: ${reason}`,
				),
				again,
			].join("\n"),
		});
	for (const rig of chosen) await forgetSwept(rig.id, region, world);
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

const HEADS = ["RIG", "PHASE", "REGION", "MACHINES", "$/H", "AGE", "ENDS BY"];

async function row(
	{ folder, file }: KnownRig,
	nowMs: number,
): Promise<string[]> {
	if (file?.cloud == null) return [];
	const { cloud, createdAt, expiresAt } = file;
	const doing = await heldBy(folder);
	return [
		folder.id,
		`${cloud.phase}${doing === null ? "" : ", in use"}`,
		cloud.region,
		machinesText(cloud.machines),
		cloud.hourlyUsd === null
			? "not known"
			: `${cloud.phase === "ready" && !isOver(expiresAt, nowMs) ? "" : "up to "}${cloud.hourlyUsd.toFixed(2)}`,
		createdAt === undefined
			? "not known"
			: spanText(nowMs - Date.parse(createdAt)),
		expiresAt === null
			? "not known"
			: `${timeText(expiresAt)}${isOver(expiresAt, nowMs) ? ", over" : `, in ${spanText(Date.parse(expiresAt) - nowMs)}`}`,
	];
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

/** What is remembered of a rig of which AWS has nothing any more helps nobody; true: there was something. */
async function forgetSwept(
	id: string,
	region: string,
	world: World,
): Promise<boolean> {
	const rigs = await knownRigs(world);
	const rig = rigs.find(({ folder }) => folder.id === id);
	// Of one that is elsewhere nothing is known by looking here.
	if (rig?.file?.cloud?.region !== region) return false;
	const held = await hold(rig.folder, "sees that nothing of it is left");
	await forget(rig.folder);
	await held.release();
	return true;
}

function againCommand(
	{ region, profile, id, owner }: RigsSweepArgs,
	chosen: readonly TaggedRig[],
): string {
	const one = id ?? (chosen.length === 1 ? chosen[0]?.id : undefined);
	return [
		`mqbench rigs sweep --region ${region}`,
		...(one === undefined ? [] : [`--id ${one}`]),
		...(profile === undefined ? [] : [`--profile ${profile}`]),
		...(owner === undefined ? [] : [`--owner ${owner}`]),
	].join(" ");
}
