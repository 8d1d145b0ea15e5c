import { readdir } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { noBroker } from "../../runner/brokers/index.ts";
import { failure } from "../../runner/errors.ts";
import type { RigPlace } from "../../runner/scenario/rig.ts";
import { parseRig, RigFile } from "../../runner/scenario/rig-file.ts";
import { orInterrupted } from "../../runner/stop.ts";
import { tell } from "../../runner/text/tell.ts";
import type { World } from "../../runner/world.ts";
import { endsAt, expiresAt } from "./expiry.ts";
import { makeHostKey, makeKey } from "./key.ts";
import { goneText } from "./leftover.ts";
import type { Offer, Provider, RigConfig, Stack } from "./provider.ts";
import { type Clouds, providerOf, providerOfRig } from "./providers.ts";
import {
	configOf,
	forget,
	keepConfig,
	keepRig,
	knownRig,
	makeRigFolder,
	type RigFolder,
} from "./rigs.ts";
import {
	accountTrouble,
	forgetDown,
	type Known,
	left,
	sweepAway,
	type TakingDown,
	takeDown,
	whyOf,
} from "./take-down.ts";

/** What is to be rented. The user has agreed. */
export type Offered = Pick<Offer, "cloud" | "config" | "machines" | "hourlyUsd">;

/** Machines that are up. The owner of this object takes them down or keeps them. */
export interface CloudRig {
	/** Its rig.json, in the state folder. */
	readonly place: RigPlace;
	readonly file: RigFile;
	/** Lets it stay when this mqbench ends. Any other mqbench may measure on it and take it down. */
	keep(): void;
	/** What a machine of it has written to its console since it started; "": nothing yet. */
	console(host: string): Promise<string>;
	/**
	 * Takes it down, and does not stop for `world.stop`. May be called more than once. Fails with `cloud-left` (exit code 5), which lists what is
	 * left and the commands that take it down.
	 */
	teardown(): Promise<void>;
}

export interface CloudOptions {
	/** Downloads the command pulumi without asking. */
	readonly yes?: boolean | undefined;
	/** Called with each step, a line for people. Default: stderr. */
	say?(line: string): void;
	/** Default: the real ones. */
	readonly clouds?: Clouds;
	readonly timing?: Partial<Timing>;
}

export interface Timing {
	/** How long Pulumi may take to end properly after we asked for it. */
	readonly abortMs: number;
	/** The pause between two tries to take it down. */
	readonly pausesMs: readonly number[];
	/** The pause before a second look for what a killed Pulumi may have made. */
	readonly againMs: number;
}

/**
 * Stands up what was offered: remembers it first, then lets Pulumi make it. After any failure, and after Ctrl-C, it takes everything down. It
 * fails with `cloud-up` or `interrupted` if nothing is left, and with `cloud-left` (exit code 5) if something is.
 */
export async function standUpCloud(
	{ cloud, config, machines, hourlyUsd }: Offered,
	world: World,
	options: CloudOptions = {},
): Promise<CloudRig> {
	const { say, yes, timing, clouds } = filled(options, world);
	// rig.json has a broker for each system; a system without a process needs no machines.
	if (config.systems.length === 0)
		throw failure("usage", { message: tell("nothing-to-rent", { broker: noBroker }) });
	const provider = await clouds(cloud);
	orInterrupted(world.stop);
	const folder = await makeRigFolder(config.id, world);
	let stack: Stack;
	let plan: RigFile;
	let whole: RigConfig;
	try {
		const { identity, hostKey, knownHosts } = folder;
		const publicKey = await makeKey(identity, config.id);
		await makeHostKey(hostKey, knownHosts, config.id);
		const nowMs = world.clock.nowMs();
		whole = provider.parseConfig({
			...config,
			profile: provider.profileOf(config, world.env),
			// The offer's time: a question that waited long for its answer has used up the spare time.
			expiresAt: expiresAt(config.ttlMinutes, nowMs),
			publicKey,
			identity,
			hostKey,
			knownHosts,
		});
		await keepConfig(folder, whole);
		const end = endsAt(config.ttlMinutes, nowMs);
		plan = plannedRig(folder, provider, whole, { machines, hourlyUsd, end }, world);
		await keepRig(folder, plan);
		stack = await provider.open(folder, world, { yes, say });
		orInterrupted(world.stop);
	} catch (error) {
		await forget(folder);
		throw error;
	}
	let known = plan;
	const gone = () => world.leaving?.(null);
	const down = () =>
		takeDown(stack, folder, known, { world, say, clouds, ...timing }).finally(gone);
	world.leaving?.(goneText(plan, "It was being made.", world.clock.nowMs()));
	let file: RigFile;
	try {
		const output = await bringUp(stack, world, { say, timing });
		file = ready(rigOf(output, plan, config.clients.count), plan);
		known = file;
		await keepRig(folder, file);
	} catch (error) {
		say(
			world.stop.aborted
				? "Taking down what was made ..."
				: `That failed (${whyOf(error)}). Taking down what was made ...`,
		);
		await down();
		orInterrupted(world.stop);
		const remedy = provider.remedyFor(whyOf(error));
		throw failure("cloud-up", {
			id: config.id,
			reason: whyOf(error),
			remedy: remedy ? ` ${remedy}` : "",
		});
	}
	world.leaving?.(goneText(file, "", world.clock.nowMs()));
	let ending: Promise<void> | undefined;
	return {
		place: folder.place,
		file,
		keep: gone,
		console: (host) =>
			provider.console(
				host,
				{ id: config.id, region: config.region, profile: whole.profile },
				world,
			),
		teardown() {
			ending ??= down();
			return ending;
		},
	};
}

/**
 * Takes down a rig that the state folder knows. Once begun, it does not stop for `world.stop`. Fails with `no-such-rig`, and with `cloud-left`
 * (exit code 5) if something of it is left. It does nothing with the credentials of another account, or if it is stopped before Pulumi has begun.
 */
export async function destroyCloud(
	id: string,
	world: World,
	options: CloudOptions = {},
): Promise<void> {
	const { say, yes, timing, clouds } = filled(options, world);
	const { folder, file } = await knownRig(id, world);
	try {
		const provider = await providerOfRig(file, clouds);
		const plan = file ?? (await lost(folder, provider, world));
		// Pulumi's input is stored before Pulumi is asked for anything.
		const made = await readdir(folder.pulumi).catch(() => []);
		if (plan.cloud === null && made.length === 0) return await forgetDown(folder);
		world.leaving?.(goneText(plan, "Taking it down has not begun yet.", world.clock.nowMs()));
		const trouble = plan.cloud === null ? null : await accountTrouble(provider, plan.cloud, world);
		// We may not know whose credentials they are, for example without a network. Then Pulumi's provider checks before it does anything: its state
		// has the account since the rig was made (allowedAccountIds, infra/aws/rig.ts).
		if (trouble?.sure) throw left(plan, null, trouble.wrong, world);
		let stack: Stack;
		try {
			orInterrupted(world.stop);
			stack = await provider.open(folder, world, { yes, say });
			orInterrupted(world.stop);
		} catch (error) {
			const reason = whyOf(error);
			// After a stop, do not wait for a sweep; an older Pulumi may also still be running.
			if (world.stop.aborted) throw left(plan, null, reason, world);
			return await sweepAway(folder, plan, { reason, resources: null }, { world, say, clouds });
		}
		await takeDown(stack, folder, plan, { world, say, clouds, ...timing });
	} finally {
		world.leaving?.(null);
	}
}

// --- internal ---

const TIMING: Timing = { abortMs: 30_000, pausesMs: [5_000, 20_000], againMs: 30_000 };

function filled(options: CloudOptions, world: World) {
	return {
		say: (line: string) => void world.stderr.write(`${line}\n`),
		clouds: providerOf,
		...options,
		timing: { ...TIMING, ...options.timing },
		yes: options.yes === true,
	};
}

/** rig.json before anything exists. `end`: when its machines end themselves at the earliest; null: not known. */
function plannedRig(
	folder: RigFolder,
	{ name, target }: Pick<Provider, "name" | "target">,
	config: RigConfig,
	{
		machines,
		hourlyUsd,
		end,
	}: Pick<Offered, "machines" | "hourlyUsd"> & { readonly end: string | null },
	{ clock }: World,
): RigFile {
	const { id, expiresAt, region, profile, account } = config;
	const { owner, zone, ami, version } = config;
	return RigFile.parse({
		version: 1,
		id,
		target,
		createdAt: new Date(clock.nowMs()).toISOString(),
		expiresAt,
		brokers: config.systems.map(({ system, broker }) => ({ system, broker })),
		cloud: {
			provider: name,
			region,
			profile,
			account,
			owner,
			machines: { ...machines },
			hourlyUsd,
			endsAt: end,
			state: folder.path,
		},
		facts: { zone, ami, mqbench: version },
	});
}

/** Resolves with the program's output. Ctrl-C asks Pulumi to end properly, and waits for that, but not for ever. */
async function bringUp(
	stack: Stack,
	world: World,
	{ say, timing }: Pick<TakingDown, "say"> & { readonly timing: Timing },
): Promise<unknown> {
	const abort = new AbortController();
	const impatience = new AbortController();
	const stopped = new Promise<"stopped">((resolve) => {
		const onStop = async () => {
			say("Stopping: waiting for Pulumi to finish what it has begun ...");
			abort.abort();
			await sleep(timing.abortMs, undefined, { signal: impatience.signal }).catch(() => {});
			resolve("stopped");
		};
		if (world.stop.aborted) void onStop();
		else world.stop.addEventListener("abort", onStop, { once: true });
		impatience.signal.addEventListener("abort", () =>
			world.stop.removeEventListener("abort", onStop),
		);
	});
	const up = stack.up({ signal: abort.signal, say });
	// Too late: nobody listens any more.
	up.catch(() => {});
	try {
		const output = await Promise.race([up, stopped]);
		if (output === "stopped") {
			say("Pulumi does not end: killing it and dropping its lock.");
			await stack.cancel();
		}
		orInterrupted(world.stop);
		return output;
	} finally {
		impatience.abort();
	}
}

/** Checks that the program's output is a rig with all of its machines. */
function rigOf(output: unknown, plan: RigFile, clients: number): RigFile {
	const parsed = parseRig(JSON.stringify(output ?? null));
	if ("wrong" in parsed)
		throw new Error(`Pulumi's output is not a rig: ${parsed.wrong.join("; ")}`);
	const { rig } = parsed;
	for (const { system } of plan.brokers)
		if (!rig.brokers.some((one) => one.system === system && one.hosts.length > 0))
			throw new Error(`Pulumi's output has no machine for ${system}`);
	if (rig.clients.length !== clients)
		throw new Error(
			`Pulumi's output has ${rig.clients.length} clients, and ${clients} were asked for`,
		);
	return rig;
}

/** What the program knows, plus what only mqbench knows. */
function ready(rig: RigFile, plan: RigFile): RigFile {
	const { createdAt, expiresAt, cloud, id } = plan;
	if (cloud === null) throw new Error("what is rented has a price");
	return {
		...rig,
		id,
		target: plan.target,
		...(createdAt !== undefined && { createdAt }),
		expiresAt,
		cloud,
		facts: { ...plan.facts, ...rig.facts },
	};
}

/** Its rig.json is missing or broken: the program's input says where it is. */
async function lost(folder: RigFolder, provider: Provider, world: World): Promise<Known> {
	const config = await configOf(folder, provider.parseConfig);
	if (config === null) return { id: folder.id, cloud: null, expiresAt: null };
	const unknown = { machines: {}, hourlyUsd: null, end: null };
	return plannedRig(folder, provider, config, unknown, world);
}
