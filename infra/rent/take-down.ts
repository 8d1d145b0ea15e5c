import { setTimeout as sleep } from "node:timers/promises";
import { failure, MqbenchError } from "../../runner/errors.ts";
import type { Cloud, RigFile } from "../../runner/scenario/rig-file.ts";
import { commandLine } from "../../runner/shell.ts";
import { formatUtc } from "../../runner/units.ts";
import type { World } from "../../runner/world.ts";
import { callerOf } from "./api.ts";
import { forget, type RigFolder } from "./rigs.ts";
import { openStack, type Stack } from "./stack.ts";
import { removeTagged } from "./tagged.ts";

export interface CloudOptions {
	/** Called with each step, a line for people. Default: stderr. */
	say?(line: string): void;
	/** Default: Pulumi's; tests pass a fake. */
	open?(folder: RigFolder, world: World): Promise<Stack>;
	/** How long Pulumi may take to end properly after we asked for it. */
	readonly patienceMs?: number;
	/** The pause before a second look for things that AWS may show late. */
	readonly againMs?: number;
}

export function filled(options: CloudOptions, world: World): Required<CloudOptions> {
	return {
		say: (line) => void world.stderr.write(`${line}\n`),
		open: openStack,
		patienceMs: 30_000,
		againMs: 30_000,
		...options,
	};
}

/** The facts about a rig that must go; `cloud` is null if there is only its name. */
export type Known = Pick<RigFile, "id" | "expiresAt"> & {
	/** `state` is null if there is no record here. */
	readonly cloud: (Pick<Cloud, "region" | "profile" | "account"> & Partial<Cloud>) | null;
};

/**
 * Takes a rig down: by Pulumi, as far as there is a state, and then always by its tag, until nothing and no record of it is left. It does
 * not stop for `world.stop`. Fails with `cloud-left`, and with `rig-unforgotten` if only its folder stays. With credentials of another
 * account nothing is touched. `folder` is null without Pulumi; `failed` is true if it was not stood up properly.
 */
export async function takeDown(
	rig: Known,
	folder: RigFolder | null,
	options: CloudOptions,
	world: World,
	failed = false,
): Promise<void> {
	const { say, open, patienceMs, againMs } = filled(options, world);
	const { id, cloud } = rig;
	const unstopped = { ...world, stop: new AbortController().signal };
	const cut =
		"taking it down was cut short. Pulumi goes on with it as long as it can, and the first command waits for that";
	world.leaving?.(leftText(rig, cut, [], world));
	try {
		const trouble = await accountTrouble(cloud, unstopped);
		if (trouble !== null || cloud === null) throw left(rig, trouble ?? "", [], world);
		const why: string[] = [];
		let whole = folder === null;
		try {
			if (folder !== null) whole = await (await open(folder, unstopped)).destroy(say, patienceMs);
		} catch (error) {
			why.push(whyOf(error));
			say(`Pulumi could not take it down (${whyOf(error)}).`);
		}
		for (let look = 1; ; look++) {
			if (!whole) say(`Removing everything with the tag mqbench:run=${id} in ${cloud.region} ...`);
			const things = await removeTagged(cloud, id, unstopped, say).catch((error) => {
				why.push(`AWS cannot be asked for its tag: ${whyOf(error)}`);
				throw left(rig, why.join("; "), [], world);
			});
			if (things.length === 0 && (look === 2 || (whole && !failed))) break;
			why.push(...(look === 2 ? ["AWS does not let go of it"] : []));
			if (look === 2) throw left(rig, why.join("; "), things, world);
			say(`AWS may list new resources late: looking again in ${againMs / 1000}s ...`);
			await sleep(againMs);
		}
		if (folder !== null) await forget(folder);
	} catch (error) {
		if (error instanceof MqbenchError) throw error;
		// A bug of ours must not hide that machines may be left.
		throw left(rig, error instanceof Error ? (error.stack ?? "") : String(error), [], world);
	} finally {
		world.leaving?.(null);
	}
}

/** The failure that lists the things left. */
export function left(rig: Known, why: string, things: readonly string[], world: World) {
	return failure("cloud-left", { text: leftText(rig, why, things, world) });
}

/** For people: the rest of a rig and why (the end of a sentence), when its machines end by themselves, and the commands to take it down. */
export function leftText(
	{ id, cloud, expiresAt }: Known,
	why: string,
	things: readonly string[],
	{ clock }: Pick<World, "clock">,
): string {
	const { region, profile = null, machines = {}, hourlyUsd = null, state = null } = cloud ?? {};
	const usd =
		hourlyUsd === null
			? ""
			: ` (${machinesText(machines)}, $${hourlyUsd.toFixed(2)} an hour while all run)`;
	const end = `${formatUtc(expiresAt ?? "")} UTC`;
	const where = region === undefined ? [] : ["--region", region];
	const whose = profile === null ? [] : ["--profile", profile];
	return [
		`The rig ${id} is not down${region === undefined ? "" : ` in ${region}`}${usd}: ${why}.`,
		...things.map((line) => `  ${line}`),
		expiresAt === null
			? "It is not known when its machines end by themselves."
			: isOver(expiresAt, clock.nowMs())
				? `Its machines should have ended themselves at ${end}; everything else stays.`
				: `Its machines end themselves by ${end}; until then they cost money; everything else stays.`,
		...(state === null
			? []
			: [`Take it down:         npx mqbench rigs destroy ${commandLine([id])}`]),
		`Find it by its tag:   npx mqbench rigs sweep ${commandLine([...where, "--id", id, ...whose])}`,
	].join("\n");
}

/** "3 i4i.xlarge, 2 c6in.xlarge". */
export function machinesText(machines: Readonly<Record<string, number>>): string {
	return Object.entries(machines)
		.map(([type, count]) => `${count} ${type}`)
		.join(", ");
}

/** Whether that moment has come; false if it is unknown. */
export function isOver(iso: string | null, nowMs: number): boolean {
	return iso !== null && Date.parse(iso) <= nowMs;
}

/** Why it failed, as the end of a sentence. */
export function whyOf(error: unknown): string {
	return (error instanceof Error ? error.message : String(error)).trim().replace(/\.$/, "");
}

// --- internal ---

/**
 * Why a rig must not be touched with the credentials in use, as the end of a sentence: AWS shows nothing of it to another account, so
 * mqbench would assume it gone, and forget machines that run. null if the accounts are the same.
 */
async function accountTrouble(cloud: Known["cloud"], world: World): Promise<string | null> {
	if (cloud === null) return "its region and its account of AWS are not known";
	const { account, profile } = cloud;
	if (account === null) return "its account of AWS is not known";
	const where = `it is in account ${account} of AWS`;
	try {
		const own = (await callerOf(cloud, world)).account;
		return own === account
			? null
			: `${where}, and the credentials in use${profile === null ? "" : ` (profile ${profile})`} are of account ${own}, which sees nothing of it; use those of ${account} (such as AWS_PROFILE)`;
	} catch (error) {
		return `${where}, and mqbench could not find out whose credentials are in use (${whyOf(error)})`;
	}
}
