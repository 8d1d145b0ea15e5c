import { z } from "zod";
import { hasProcess, type SystemOptions } from "../brokers/index.ts";
import { largestOf } from "../extremes.ts";
import { count, described, flag, ttl, unit, word } from "../model/field.ts";
import { tell } from "../text/tell.ts";
import { completed } from "./place.ts";

const Instance = z.string().regex(/^[a-z][a-z0-9-]*\.[a-z0-9-]+$/, tell("aws-instance"));

const BYTES = { GiB: 1024 ** 3, MiB: 1024 ** 2 };
/** A size in whole GiB or MiB, as their number. */
type Range = readonly [least: number, most: number];
function whole(of: keyof typeof BYTES, description: string, example: string, [least, most]: Range) {
	return unit("size", { description, examples: [example] }, (bytes) => {
		const n = bytes / BYTES[of];
		const fits = Number.isInteger(n) && n >= least && n <= most;
		return fits ? undefined : `must be whole ${of}, ${least}${of} to ${most}${of}`;
	}).transform((bytes) => bytes / BYTES[of]);
}

export const AwsFile = z
	.strictObject({
		region: word("AWS region.", ["eu-central-1"], [/^[a-z]{2}(-[a-z]+)+-\d$/, tell("aws-region")]),
		zone: word(
			"Availability zone of all machines. Default: the region's first zone with these instance types.",
			["eu-central-1a"],
			[/^[a-z]{2}(-[a-z0-9]+)+-\d[a-z]$/, tell("aws-zone")],
		).optional(),
		profile: word("AWS profile. Default: from the environment (AWS_PROFILE, AWS_ACCESS_KEY_ID).", [
			"bench",
		]).optional(),
		owner: described(
			z.string().min(1).max(128).optional(),
			"Value of the tag mqbench:owner. Default: the caller's name in AWS.",
			["ada"],
		),
		ami: word(
			"Machine image, a Debian 12. Default: the newest for the instance type's processor.",
			["ami-0123456789abcdef0"],
			[/^ami-[0-9a-f]+$/, tell("aws-image")],
		).optional(),
		ttl: ttl("the machines end themselves", "10min"),
		sshFrom: word(
			"The only address that may use SSH. Default: the address under which AWS sees you.",
			["203.0.113.7"],
			[
				/^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!\/|$)|(?=\/|$))){4}(?:\/32)?$/,
				tell("aws-address"),
			],
		).optional(),
		brokers: z
			.strictObject({
				instance: Instance.meta({
					description: "Instance type: one machine for each node of the largest system.",
					examples: ["i4i.xlarge"],
				}),
				volume: described(
					z
						.strictObject({
							type: z.enum(["gp3", "io2"]).default("gp3").meta({ description: "Volume type." }),
							size: whole("GiB", "Volume size, whole GiB.", "100GiB", [4, 65_536]),
							iops: count(
								"Provisioned I/O operations per second; required for io2. Default: gp3's.",
								256_000,
								[6000],
							).optional(),
							throughput: whole(
								"MiB",
								"gp3: provisioned bytes per second, whole MiB. Default: gp3's.",
								"500MiB",
								[125, 2000],
							).optional(),
						})
						.transform(({ type, size, iops, throughput }) => ({
							type,
							sizeGiB: size,
							iops: iops ?? null,
							// Only gp3 has it.
							throughputMiBps: throughput ?? null,
						})),
					"EBS volume for the brokers' data. Default: the instance's NVMe disk, which its type must have.",
					[{ type: "gp3", size: "100GiB" }],
				).optional(),
			})
			.meta({ description: "The brokers' machines.", examples: [{ instance: "i4i.xlarge" }] }),
		clients: described(
			z.strictObject({
				instance: described(Instance, "Instance type of the load generators.", ["c6in.xlarge"]),
				spot: flag(
					"Spot instances: cheaper, but AWS may take them back, which makes the run INVALID.",
				).default(false),
			}),
			"The load generators' machines.",
			[{ instance: "c6in.xlarge" }],
		),
	})
	.transform(({ ttl: ttlNs, sshFrom, brokers, ...rest }) => ({
		...completed(["zone", "profile", "owner", "ami"], rest),
		ttlNs,
		sshFrom: sshFrom === undefined ? null : `${sshFrom.replace(/\/32$/, "")}/32`,
		brokers: completed(["volume"], brokers),
	}));
type AwsFile = z.output<typeof AwsFile>;

/** Brokers take turns on the same machines; each client has its own. */
export interface Aws extends AwsFile {
	readonly brokers: AwsFile["brokers"] & { readonly count: number };
	readonly clients: AwsFile["clients"] & { readonly count: number };
}

export type AwsVolume = NonNullable<AwsFile["brokers"]["volume"]>;

/** Nodes of the largest system, which all systems share; 0 if none is a process. */
export function brokerMachines(systems: readonly { readonly options: SystemOptions }[]): number {
	return Math.max(0, largestOf(systems.map(nodesOf)));
}

export function nodesOf({ options }: { readonly options: SystemOptions }): number {
	return hasProcess(options) ? (options.nodes ?? 1) : 0;
}
