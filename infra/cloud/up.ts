import path from "node:path";
import { rigEndsAt } from "../../runner/plan/warnings.ts";
import { type RigPlace, writeRig } from "../../runner/scenario/rig.ts";
import type { RigFile } from "../../runner/scenario/rig-file.ts";
import { commandLine } from "../../runner/shell.ts";
import { orInterrupted } from "../../runner/stop.ts";
import { tell } from "../../runner/text/tell.ts";
import { formatDuration } from "../../runner/units.ts";
import type { World } from "../../runner/world.ts";
import { type CloudSide, type Renting, type RentOptions, rent } from "./rent.ts";
import type { CloudRequest } from "./request.ts";
import { useThenTakeDown } from "./use.ts";

/** Rents machines that stay, and writes the rig.json that says where they are. Resolves with the text for people. */
export async function upInCloud(
	request: CloudRequest,
	args: RentOptions & { readonly path: string },
	place: RigPlace,
	progress: Renting,
	world: World,
	cloud: CloudSide,
): Promise<string> {
	const using = { plannedNs: null, rigFile: place.shown };
	const rig = await rent(request, using, args, progress, world, cloud);
	const { file } = rig;
	try {
		orInterrupted(world.stop);
		await writeRig(place, from(path.dirname(rig.place.path), file));
	} catch (error) {
		const failed = () => Promise.reject(error);
		await useThenTakeDown(rig, (line) => progress.say(line), world, failed);
	}
	await rig.keep();
	return upText(file, args.path, place.shown, request, world);
}

// --- internal ---

/** The same rig for a file in another folder, from which relative paths would be different. */
function from(folder: string, rig: RigFile): RigFile {
	const there = <Host extends RigFile["clients"][number]>(host: Host): Host => ({
		...host,
		...(host.identity === undefined ? {} : { identity: path.resolve(folder, host.identity) }),
		...(host.knownHosts === undefined ? {} : { knownHosts: path.resolve(folder, host.knownHosts) }),
	});
	return {
		...rig,
		clients: rig.clients.map(there),
		brokers: rig.brokers.map((broker) => ({ ...broker, hosts: broker.hosts.map(there) })),
	};
}

function upText(
	rig: RigFile,
	scenario: string,
	shown: string,
	{ scenario: { aws } }: Pick<CloudRequest, "scenario">,
	{ clock }: Pick<World, "clock">,
): string {
	const { id, cloud } = rig;
	const machines = Object.entries(cloud?.machines ?? {})
		.map(([type, count]) => `${count} x ${type}`)
		.join(", ");
	const usd = cloud?.hourlyUsd ?? null;
	const cost = usd === null ? "price not known" : `$${usd.toFixed(2)} an hour`;
	const endsAt = rigEndsAt(rig);
	const end =
		endsAt === null
			? "It is not known when they end by themselves"
			: `${aws.ami === null ? "They" : "If their image has cloud-init, they"} end themselves in ${formatDuration(Math.max(0, Date.parse(endsAt) - clock.nowMs()) * 1e6)} (${endsAt})`;
	return `${machines} are up in ${cloud?.region ?? "AWS"} (${cost}). ${end}.\n${tell("measure-on-rig", { file: shown, scenario })}\nThey cost money until: mqbench down ${commandLine([shown])}, or mqbench rigs destroy ${commandLine([id])}\n`;
}
