import { z } from "zod";

/**
 * What the Pulumi program is told, as one value of the stack's configuration (`mqbench:rig`). Everything is decided before: the program
 * asks nobody and chooses nothing.
 */
export const AwsConfig = z.strictObject({
	/** Name of the rig: of its stack, and in the tag mqbench:run. */
	id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/),
	/** Tag mqbench:owner. */
	owner: z.string().min(1).max(128),
	/** mqbench's own; tag mqbench:version. */
	version: z.string().min(1),
	/** Tag mqbench:expires: from then on a sweep may remove it. Not before the machines end themselves. */
	expiresAt: z.iso.datetime(),
	/** The machines end themselves so long after their start. */
	ttlMinutes: z.int().min(10).max(10_080),
	region: z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d$/),
	zone: z.string().min(1),
	profile: z.string().min(1).nullable().default(null),
	/** The one address that SSH is open to. */
	callerCidr: z.cidrv4().refine((cidr) => cidr.endsWith("/32"), {
		error: "is to be one address, 203.0.113.7/32",
	}),
	/** Of a key that lives as long as the rig. */
	publicKey: z.string().regex(/^ssh-ed25519 [A-Za-z0-9+/=]+( [\w@.-]+)?$/),
	/** File of its private half, as rig.json names it. The program never reads it. */
	identity: z.string().min(1),
	/** File that keeps the machines' own keys, as rig.json names it. */
	knownHosts: z.string().min(1),
	ami: z.string().regex(/^ami-[0-9a-f]+$/),
	/** Who may come in over SSH: Debian's images know "admin". */
	user: z.string().min(1).default("admin"),
	brokers: z.strictObject({
		instance: z.string().min(1),
		count: z.int().min(0).max(9),
		/** A volume of its own; null: the machine's own NVMe. */
		volume: z
			.strictObject({
				type: z.enum(["gp3", "io2"]),
				sizeGiB: z.int().min(1),
				iops: z.int().positive().nullable(),
				throughputMiBps: z.int().positive().nullable(),
			})
			.nullable(),
	}),
	clients: z.strictObject({
		instance: z.string().min(1),
		count: z.int().min(1).max(100),
		spot: z.boolean(),
	}),
	/** Systems that the brokers' machines are for, in turn; each uses the first `nodes` of them. */
	systems: z.array(
		z.strictObject({
			system: z.string().min(1),
			broker: z.enum(["nats", "kafka", "redis", "rabbitmq"]),
			nodes: z.int().min(1).max(9),
		}),
	),
	/** Debian packages that the brokers run on. */
	packages: z.array(z.string().regex(/^[a-z0-9][a-z0-9.+-]*$/)).default([]),
	/** Of an emulator, for tests; null: AWS. */
	endpoint: z.url().nullable().default(null),
});
export type AwsConfig = z.infer<typeof AwsConfig>;
