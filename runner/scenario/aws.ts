import { hasProcess, noBroker } from "../brokers/index.ts";
import { targets } from "../model/targets.ts";
import { clientCount } from "./clients.ts";
import type { Context } from "./context.ts";
import type { Parts } from "./parts.ts";
import type { Problem } from "./problem.ts";
import type { Aws, AwsVolume, Clients, System } from "./scenario.ts";

/** What target aws rents; null: nothing. */
export function resolveAws(
	{ aws: data, written }: Pick<Parts, "aws" | "written">,
	{ target, rig }: Pick<Context, "target" | "rig">,
	clients: Clients,
	systems: readonly Pick<System, "broker" | "options">[],
): { aws: Aws | null; problems: Problem[] } {
	const nothing = { aws: null, problems: [] };
	if (target === undefined || targets[target].rents !== "aws" || rig !== null)
		return nothing;
	if (written.aws === undefined)
		return {
			aws: null,
			problems: [{ path: ["aws"], at: "key", message: MISSING }],
		};
	if (data === undefined) return nothing;
	const count = brokerMachines(systems);
	const problems: Problem[] = [];
	const wrong = (path: Problem["path"], message: string): void => {
		problems.push({ path: ["aws", ...path], at: "value", message });
	};
	// One with a mistake is missing here, and says so itself.
	if (count === 0 && systems.length > 0)
		problems.push({
			path: ["target"],
			at: "value",
			message: `${noBroker} needs no machines; write target: local, or add a broker`,
		});
	const { volume } = data.brokers;
	if (volume?.type === "io2" && volume.iops === undefined)
		wrong(
			["brokers", "volume", "type"],
			"a volume of type io2 needs iops; write e.g. iops: 10000",
		);
	if (volume?.type === "io2" && volume.throughput !== undefined)
		wrong(
			["brokers", "volume", "throughput"],
			"throughput needs type: gp3, as that of an io2 follows from its iops; remove throughput",
		);
	if (volume !== undefined)
		for (const { key, message } of beyondLimits(volume))
			wrong(["brokers", "volume", key], message);
	if (data.zone !== undefined && !data.zone.startsWith(data.region))
		wrong(
			["zone"],
			`zone ${data.zone} is not in region ${data.region}; write e.g. zone: ${data.region}a`,
		);
	if (problems.length > 0) return { aws: null, problems };
	const { zone, profile, owner, ami, ttl, sshFrom } = data;
	return {
		aws: {
			region: data.region,
			zone: zone ?? null,
			profile: profile ?? null,
			owner: owner ?? null,
			ami: ami ?? null,
			ttlNs: ttl,
			sshFrom:
				sshFrom === undefined ? null : `${sshFrom.replace(/\/32$/, "")}/32`,
			brokers: {
				instance: data.brokers.instance,
				count,
				volume: volume === undefined ? null : volumeOf(volume),
			},
			clients: {
				instance: data.clients.instance,
				count: clientCount(clients),
				spot: data.clients.spot,
			},
		},
		problems,
	};
}

/** How many machines brokers need that take turns on them: as many as the largest has nodes; 0: none of them is a process. */
export function brokerMachines(
	systems: readonly Pick<System, "broker" | "options">[],
): number {
	return Math.max(0, ...systems.map(nodesOf));
}

/** Nodes of a system on machines of its own; 0: it is no process. */
export function nodesOf({
	broker,
	options,
}: Pick<System, "broker" | "options">): number {
	if (!hasProcess({ broker })) return 0;
	return ("nodes" in options ? options.nodes : undefined) ?? 1;
}

// --- internal ---

const MISSING =
	"target aws needs to know which machines to rent; write e.g. aws: { region: eu-central-1, brokers: { instance: i4i.xlarge }, clients: { instance: c6in.xlarge } }";

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

/** What AWS makes of a kind of volume: IOPS at least and at most, and IOPS for each GiB (https://docs.aws.amazon.com/ebs/latest/userguide/ebs-volume-types.html). */
const VOLUMES = {
	gp3: { least: 3_000, most: 80_000, perGiB: 500 },
	io2: { least: 100, most: 256_000, perGiB: 1_000 },
} as const;

/** MiB/s that gp3 gives for each of its IOPS at most. */
const GP3_MIB_PER_IOPS = 0.25;

interface WrittenVolume {
	readonly type: AwsVolume["type"];
	/** Bytes. */
	readonly size: number;
	readonly iops?: number | undefined;
	/** Bytes a second. */
	readonly throughput?: number | undefined;
}

/** What AWS would refuse when the machines are being made: a sentence each. */
function beyondLimits({
	type,
	size,
	iops,
	throughput,
}: WrittenVolume): { key: "iops" | "throughput"; message: string }[] {
	const { least, most, perGiB } = VOLUMES[type];
	const sizeGiB = size / GIB;
	// What comes with a gp3 comes with the smallest one as well.
	const carried = Math.max(type === "gp3" ? least : 0, sizeGiB * perGiB);
	const found: ReturnType<typeof beyondLimits> = [];
	if (iops !== undefined && (iops < least || iops > most))
		found.push({
			key: "iops",
			message: `iops of type: ${type} must be ${least} to ${most}, got ${iops}`,
		});
	else if (iops !== undefined && iops > carried)
		found.push({
			key: "iops",
			message: `type: ${type} has at most ${perGiB} iops for each GiB; write size: ${Math.ceil(iops / perGiB)}GiB, or iops: ${carried}`,
		});
	const given = iops ?? least;
	if (type === "gp3" && throughput !== undefined && found.length === 0) {
		const mib = throughput / MIB;
		const gets = Math.floor(given * GP3_MIB_PER_IOPS);
		if (mib > gets)
			found.push({
				key: "throughput",
				message: `type: gp3 has at most 0.25MiB/s for each of its ${given} iops; write iops: ${Math.ceil(mib / GP3_MIB_PER_IOPS)}, or throughput: ${gets}MiB`,
			});
	}
	return found;
}

function volumeOf({ type, size, iops, throughput }: WrittenVolume): AwsVolume {
	return {
		type,
		sizeGiB: size / GIB,
		iops: iops ?? null,
		throughputMiBps: throughput === undefined ? null : throughput / MIB,
	};
}
