import { failure } from "../../runner/errors.ts";
import { once } from "../../runner/once.ts";
import type { RigPlace } from "../../runner/scenario/rig.ts";
import { parseRig, RigFile } from "../../runner/scenario/rig-file.ts";
import { orInterrupted } from "../../runner/stop.ts";
import type { World } from "../../runner/world.ts";
import { AwsConfig } from "../aws/config.ts";
import { remedyFor } from "./api.ts";
import type { Offer } from "./offer.ts";
import { expiresAt, forget, keepRig, makeHostKey, makeKey, makeRigFolder } from "./rigs.ts";
import { type CloudOptions, filled, leftText, takeDown, whyOf } from "./take-down.ts";

/** The machines to rent. The user has agreed. */
export type Offered = Pick<Offer, "config" | "machines" | "hourlyUsd">;

/** Machines that are up. The owner of this object takes them down or keeps them. */
export interface CloudRig {
	/** Its rig.json, in the state folder. */
	readonly place: RigPlace;
	readonly file: RigFile;
	/** Lets it stay when this mqbench ends. Any other mqbench may measure on it and take it down. */
	keep(): void;
	/** Takes it down, and does not stop for `world.stop`. Fails with `cloud-left` (exit code 5). */
	teardown(): Promise<void>;
}

/**
 * Stands up the offered machines: records them first, then lets Pulumi make them. After any failure, and after Ctrl-C, it takes everything
 * down. It fails with `cloud-up` or `interrupted` if nothing is left, and with `cloud-left` (exit code 5) if something is.
 */
export async function standUp(
	offered: Offered,
	world: World,
	options: CloudOptions = {},
): Promise<CloudRig> {
	const { say, open } = filled(options, world);
	orInterrupted(world.stop);
	const { id, ttlMinutes, clients } = offered.config;
	const folder = await makeRigFolder(id, world);
	const begin = async () => {
		const { identity, hostKey, knownHosts } = folder;
		const publicKey = await makeKey(identity, id);
		await makeHostKey(hostKey, knownHosts, id);
		const nowMs = world.clock.nowMs();
		const keys = { publicKey, identity, hostKey, knownHosts };
		// Not the offer's: a question that waited long for its answer has used up the spare time.
		const end = expiresAt(ttlMinutes, nowMs);
		const config = AwsConfig.parse({ ...offered.config, expiresAt: end, ...keys });
		const plan = planned(config, offered, folder.path, nowMs);
		await keepRig(folder, plan);
		const stack = await open(folder, world);
		orInterrupted(world.stop);
		return { config, plan, stack };
	};
	const { config, plan, stack } = await begin().catch(async (error) => {
		await forget(folder);
		throw error;
	});
	const down = (failed = false) =>
		takeDown(plan, folder, { ...options, say, open: async () => stack }, world, failed);
	world.leaving?.(leftText(plan, "it was being made", [], world));
	// Pulumi ends in order, or with a second Ctrl-C this mqbench does.
	const onStop = () => say("Stopping: waiting for Pulumi to finish its current step ...");
	world.stop.addEventListener("abort", onStop, { once: true });
	let file: RigFile;
	try {
		const output = await stack.up(config, { signal: world.stop, say });
		orInterrupted(world.stop);
		file = whole(output, plan, clients.count);
		await keepRig(folder, file);
	} catch (error) {
		const why = whyOf(error);
		say(`${world.stop.aborted ? "" : `That failed (${why}). `}Taking down what was made ...`);
		await down(true);
		orInterrupted(world.stop);
		throw failure("cloud-up", { id, reason: why, remedy: ` ${remedyFor(why) ?? ""}`.trimEnd() });
	}
	world.stop.removeEventListener("abort", onStop);
	world.leaving?.(leftText(file, "it was not taken down", [], world));
	return {
		place: folder.place,
		file,
		keep: () => world.leaving?.(null),
		teardown: once(() => down()),
	};
}

// --- internal ---

/** rig.json before anything exists. */
function planned(
	{ ttlMinutes, systems, zone, ami, version, id, expiresAt, ...config }: AwsConfig,
	{ machines, hourlyUsd }: Offered,
	state: string,
	nowMs: number,
): RigFile {
	const { region, profile, account, owner } = config;
	// Its machines end themselves then at the earliest.
	const endsAt = new Date(nowMs + ttlMinutes * 60_000).toISOString();
	const whose = { region, profile, account, owner, state };
	return RigFile.parse({
		version: 1,
		id,
		target: "aws",
		createdAt: new Date(nowMs).toISOString(),
		expiresAt,
		brokers: systems.map(({ system, broker }) => ({ system, broker })),
		cloud: { provider: "aws", ...whose, machines, hourlyUsd, endsAt },
		facts: { zone, ami, mqbench: version },
	});
}

/** The program's output, which must be a rig with all of its machines, completed with mqbench's own data. */
function whole(output: unknown, plan: RigFile, count: number): RigFile {
	const parsed = parseRig(JSON.stringify(output ?? null));
	if ("wrong" in parsed)
		throw new Error(`Pulumi's output is not a rig: ${parsed.wrong.join("; ")}`);
	const { brokers, clients, facts } = parsed.rig;
	const hosted = brokers.filter(({ hosts }) => hosts.length > 0).map(({ system }) => system);
	if (clients.length !== count || plan.brokers.some(({ system }) => !hosted.includes(system)))
		throw new Error("Pulumi's output lacks machines that were asked for");
	return { ...plan, brokers, clients, facts: { ...plan.facts, ...facts } };
}
