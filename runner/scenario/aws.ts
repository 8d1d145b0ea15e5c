import { z } from "zod";
import { hasProcess, type SystemOptions } from "../brokers/index.ts";
import { largestOf } from "../extremes.ts";
import { count, ttl, unit, word } from "../model/field.ts";
import { tell } from "../text/tell.ts";
import { completed } from "./place.ts";

const Instance = z.string().regex(/^[a-z][a-z0-9-]*\.[a-z0-9-]+$/, tell("aws-instance"));

const BYTES = { GiB: 1024 ** 3, MiB: 1024 ** 2 };
/** A size in whole GiB or MiB, as their number. */
function whole(
	of: keyof typeof BYTES,
	description: string,
	example: string,
	least: number,
	most: number,
) {
	return unit("size", { description, examples: [example] }, (bytes) => {
		const n = bytes / BYTES[of];
		const fits = Number.isInteger(n) && n >= least && n <= most;
		return fits ? undefined : `must be whole ${of}, ${least}${of} to ${most}${of}`;
	}).transform((bytes) => bytes / BYTES[of]);
}

export const AwsFile = z
	.strictObject({
		region: word(
			"Region in which machines are rented.",
			["eu-central-1"],
			[/^[a-z]{2}(-[a-z]+)+-\d$/, tell("aws-region")],
		),
		zone: word(
			"Availability zone; all machines are in one. Default: the first of the region that has the types.",
			["eu-central-1a"],
			[/^[a-z]{2}(-[a-z0-9]+)+-\d[a-z]$/, tell("aws-zone")],
		).optional(),
		profile: word(
			"Profile of AWS's configuration files. Default: what the environment says (AWS_PROFILE, AWS_ACCESS_KEY_ID).",
			["bench"],
		).optional(),
		owner: z
			.string()
			.min(1)
			.max(128)
			.optional()
			.meta({
				description:
					"Whose machines these are: the tag mqbench:owner. Default: the caller's name in AWS.",
				examples: ["ada"],
			}),
		ami: word(
			"Image of the machines: a Debian 12. Default: the newest one for the types' processor.",
			["ami-0123456789abcdef0"],
			[/^ami-[0-9a-f]+$/, tell("aws-image")],
		).optional(),
		ttl: ttl("the machines end themselves", "10min"),
		sshFrom: word(
			"The one address from which SSH comes in. Default: that under which AWS sees the caller.",
			["203.0.113.7"],
			[
				/^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!\/|$)|(?=\/|$))){4}(?:\/32)?$/,
				tell("aws-address"),
			],
		).optional(),
		brokers: z
			.strictObject({
				instance: Instance.meta({
					description:
						"Instance type of the brokers' machines: as many as the system with the most `nodes` has, and all systems take turns on them.",
					examples: ["i4i.xlarge"],
				}),
				volume: z
					.strictObject({
						type: z.enum(["gp3", "io2"]).default("gp3").meta({ description: "Kind of volume." }),
						size: whole("GiB", "Its size, whole GiB.", "100GiB", 4, 65_536),
						iops: count(
							"Writes and reads a second that are paid for; io2 needs it. Default: those that come with gp3.",
							256_000,
							[6000],
						).optional(),
						throughput: whole(
							"MiB",
							"gp3: bytes a second that are paid for, whole MiB. Default: those that come with it.",
							"500MiB",
							125,
							2000,
						).optional(),
					})
					.transform(({ type, size, iops, throughput }) => ({
						type,
						sizeGiB: size,
						iops: iops ?? null,
						// Only gp3 has it.
						throughputMiBps: throughput ?? null,
					}))
					.optional()
					.meta({
						description:
							"Volume (EBS) that brokers store on. Default: the machine's own NVMe, which its type must have.",
						examples: [{ type: "gp3", size: "100GiB" }],
					}),
			})
			.meta({ description: "Machines of the brokers.", examples: [{ instance: "i4i.xlarge" }] }),
		clients: z
			.strictObject({
				instance: Instance.meta({
					description: "Instance type of the machines that make the load; `clients` says how many.",
					examples: ["c6in.xlarge"],
				}),
				spot: z.boolean().default(false).meta({
					description: "Cheaper, and taken away when somebody pays more: the run is then INVALID.",
				}),
			})
			.meta({
				description: "Machines that make the load.",
				examples: [{ instance: "c6in.xlarge" }],
			}),
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
	/** Nodes of the largest system, or 0 if no system has a process. */
	readonly brokers: AwsFile["brokers"] & { readonly count: number };
	readonly clients: AwsFile["clients"] & { readonly count: number };
}

export type AwsVolume = NonNullable<AwsFile["brokers"]["volume"]>;

/** Nodes of the largest system, which all systems share; 0 if none is a process. */
export function brokerMachines(systems: readonly { readonly options: SystemOptions }[]): number {
	return Math.max(0, largestOf(systems.map(nodesOf)));
}

/** Returns 0 if the system is not a process. */
export function nodesOf({ options }: { readonly options: SystemOptions }): number {
	return hasProcess(options) ? (options.nodes ?? 1) : 0;
}
