import type { z } from "zod";
import { hasProcess, noBroker } from "../brokers/index.ts";
import { largestOf } from "../extremes.ts";
import { targets } from "../model/targets.ts";
import { type Aws, AwsFile, type AwsVolume } from "./aws-schema.ts";
import { clientCount } from "./clients.ts";
import type { Context } from "./context.ts";
import type { Parts } from "./parts.ts";
import { type Problem, refuse, refuseKey } from "./problem.ts";
import type { Clients, System } from "./scenario.ts";
import { completed } from "./written.ts";

/** What target aws rents; null: nothing. */
export function resolveAws(
	{ aws: data, written }: Pick<Parts, "aws" | "written">,
	{ target, rig }: Pick<Context, "target" | "rig">,
	clients: Clients,
	systems: readonly Pick<System, "broker" | "options">[],
): { aws: Aws | null; problems: Problem[] } {
	const nothing = { aws: null, problems: [] };
	if (target === undefined || targets[target].rents !== "aws" || rig !== null) return nothing;
	if (written.aws === undefined)
		return { aws: null, problems: [refuseKey(["aws"], "aws-missing")] };
	if (data === undefined) return nothing;
	const count = brokerMachines(systems);
	const problems: Problem[] = [];
	// One with a mistake is missing here, and says so itself.
	if (count === 0 && systems.length > 0)
		problems.push(
			refuse(["target"], "aws-without-broker", { broker: systems[0]?.options.broker ?? noBroker }),
		);
	const { volume } = data.brokers;
	if (volume !== undefined) for (const one of beyondLimits(volume)) problems.push(one);
	if (data.zone !== undefined && !data.zone.startsWith(data.region))
		problems.push(
			refuse(["aws", "zone"], "zone-elsewhere", { zone: data.zone, region: data.region }),
		);
	if (problems.length > 0) return { aws: null, problems };
	const { ttl: ttlNs, brokers, sshFrom, ...rest } = completed(AwsFile, data);
	return {
		aws: {
			...rest,
			ttlNs,
			sshFrom: sshFrom && `${sshFrom.replace(/\/32$/, "")}/32`,
			brokers: {
				instance: brokers.instance,
				count,
				volume: volume === undefined ? null : volumeOf(volume),
			},
			clients: { ...data.clients, count: clientCount(clients) },
		},
		problems,
	};
}

/** How many machines brokers need that take turns on them: as many as the largest has nodes; 0: none of them is a process. */
export function brokerMachines(systems: readonly Pick<System, "options">[]): number {
	return Math.max(0, largestOf(systems.map(nodesOf)));
}

/** Nodes of a system on machines of its own; 0: it is no process. */
export function nodesOf({ options }: Pick<System, "options">): number {
	if (!hasProcess(options)) return 0;
	return ("nodes" in options ? options.nodes : undefined) ?? 1;
}

// --- internal ---

const MIB = 1024 ** 2;
const GIB = 1024 ** 3;

/** What AWS makes of a kind of volume: IOPS at least and at most, and IOPS for each GiB (https://docs.aws.amazon.com/ebs/latest/userguide/ebs-volume-types.html). */
const VOLUMES = {
	gp3: { least: 3_000, most: 80_000, perGiB: 500 },
	io2: { least: 100, most: 256_000, perGiB: 1_000 },
} as const;

/** MiB/s that gp3 gives for each of its IOPS at most. */
const GP3_MIB_PER_IOPS = 0.25;

type WrittenVolume = NonNullable<z.output<typeof AwsFile>["brokers"]["volume"]>;

/** What AWS would refuse when the machines are being made: the first of it, as the rest may follow. */
function beyondLimits(volume: WrittenVolume): Problem[] {
	const { type, size, iops, throughput } = volume;
	const at = (key: keyof WrittenVolume) => ["aws", "brokers", "volume", key];
	if (type === "io2" && iops === undefined) return [refuse(at("type"), "io2-without-iops")];
	if (type === "io2" && throughput !== undefined)
		return [refuse(at("throughput"), "io2-throughput")];
	const { least, most, perGiB } = VOLUMES[type];
	const sizeGiB = size / GIB;
	// What comes with a gp3 comes with the smallest one as well.
	const carried = Math.max(type === "gp3" ? least : 0, sizeGiB * perGiB);
	const provisioned = iops ?? least;
	if (provisioned < least || provisioned > most)
		return [refuse(at("iops"), "volume-iops-range", { type, least, most, iops })];
	if (provisioned > carried)
		return [
			refuse(at("iops"), "volume-iops-of-size", {
				type,
				perGiB,
				sizeGiB: Math.ceil(provisioned / perGiB),
			}),
		];
	const mib = (throughput ?? 0) / MIB;
	return mib > Math.floor(provisioned * GP3_MIB_PER_IOPS)
		? [
				refuse(at("throughput"), "volume-throughput-of-iops", {
					iops: provisioned,
					needed: Math.ceil(mib / GP3_MIB_PER_IOPS),
				}),
			]
		: [];
}

function volumeOf({ type, size, iops, throughput }: WrittenVolume): AwsVolume {
	return {
		type,
		sizeGiB: size / GIB,
		iops: iops ?? null,
		throughputMiBps: throughput === undefined ? null : throughput / MIB,
	};
}
