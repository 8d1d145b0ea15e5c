import { z } from "zod";

/** Input of the Pulumi program, one value of the stack's configuration (`mqbench:rig`). It decides everything. */
export const AwsConfig = z
	.strictObject({
		/** The rig's name: its stack has it, and the tag mqbench:run. */
		id: like(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/, "nightly-1"),
		/** Tag mqbench:owner. */
		owner: z.string().min(1).max(128),
		/** mqbench's version; tag mqbench:version. */
		version: z.string().min(1),
		/** Tag mqbench:expires: after this time a sweep may remove the rig. Not before the machines end themselves. */
		expiresAt: z.preprocess(
			// Pulumi turns an unquoted YAML time into Go's form: "2026-11-20 14:00:00 +0000 UTC".
			(time) =>
				typeof time === "string" ? time.replace(/^(\S+) (\S+) \+0000 UTC$/, "$1T$2Z") : time,
			z.iso.datetime("must look like 2026-11-20T12:00:00Z"),
		),
		/** How long after their start the machines end themselves. */
		ttlMinutes: z.int().min(10).max(10_080),
		region: like(/^[a-z]{2}(-[a-z]+)+-\d$/, "eu-central-1"),
		zone: z.string().min(1),
		profile: z.string().min(1).nullable().default(null),
		/** With credentials of another account nothing is made or taken down. null if unknown. */
		account: like(/^\d{12}$/, '"123456789012", in quotes')
			.nullable()
			.default(null),
		/** The one address that SSH is open to. */
		callerCidr: like(/^(\d{1,3}\.){3}\d{1,3}\/32$/, "203.0.113.7/32: one address"),
		/** Public half of a key that lives as long as the rig. */
		publicKey: like(/^ssh-ed25519 [A-Za-z0-9+/=]+( [\w@.-]+)?$/, "ssh-ed25519 AAAA... name"),
		/** File of its private half, as rig.json names it. The program does not read it. */
		identity: z.string().min(1),
		/** Private half of the machines' host key, with the public half next to it (".pub"). With null the machines make their own. */
		hostKey: like(/^(\/|[A-Za-z]:[\\/])/, "/home/kim/host_ed25519: an absolute path")
			.nullable()
			.default(null),
		/** File with the machines' host keys for ssh, as named in rig.json. */
		knownHosts: z.string().min(1),
		ami: like(/^ami-[0-9a-f]+$/, "ami-0123456789abcdef0"),
		/** The user for SSH; in Debian's images it is "admin". */
		user: z.string().min(1).default("admin"),
		brokers: z.strictObject({
			instance: z.string().min(1),
			count: z.int().min(0).max(9),
			/** A volume; null for the machine's NVMe. */
			volume: z
				.strictObject({
					type: z.enum(["gp3", "io2"]),
					sizeGiB: z.int().min(1),
					iops: z.int().positive().nullable().default(null),
					throughputMiBps: z.int().positive().nullable().default(null),
				})
				.nullable()
				.default(null),
		}),
		clients: z.strictObject({
			instance: z.string().min(1),
			count: z.int().min(1).max(100),
			spot: z.boolean(),
		}),
		/** Systems that take turns on the brokers' machines; each uses the first `nodes` of them. */
		systems: z.array(
			z.strictObject({
				system: z.string().min(1),
				broker: z.string().min(1),
				nodes: z.int().min(1).max(9),
			}),
		),
		/** Debian packages for the brokers. */
		packages: z.array(like(/^[a-z0-9][a-z0-9.+-]*$/, "default-jre-headless")).default([]),
		/** Address of an emulator, for tests; null for AWS. */
		endpoint: z.url().nullable().default(null),
	})
	.refine(({ brokers, systems }) => systems.every(({ nodes }) => nodes <= brokers.count), {
		path: ["brokers", "count"],
		error: "must be at least the nodes of each system",
	});
export type AwsConfig = z.infer<typeof AwsConfig>;

/** The mistakes in a configuration, a line each: "mqbench:rig.region: must look like eu-central-1". */
export function wrongIn({ issues }: z.ZodError): string {
	return issues
		.map(({ path, message }) => `mqbench:${z.core.toDotPath(["rig", ...path])}: ${message}`)
		.join("\n");
}

/** How many machines of each type. */
export function machinesOf({
	brokers,
	clients,
}: Readonly<Record<"brokers" | "clients", { instance: string; count: number }>>) {
	const machines: Record<string, number> = { [clients.instance]: clients.count };
	if (brokers.count > 0)
		machines[brokers.instance] = (machines[brokers.instance] ?? 0) + brokers.count;
	return machines;
}

/** The disk that each machine starts from, for Debian, the brokers' packages and the reports of a run. */
export const ROOT_DISK = { type: "gp3", sizeGiB: 16 } as const;

/** "gp3 200GiB, 6000 IOPS"; null if the machines have none. */
export function volumeText(volume: AwsConfig["brokers"]["volume"]): string | null {
	if (volume === null) return null;
	const { type, sizeGiB, iops, throughputMiBps } = volume;
	const more = [iops && `${iops} IOPS`, throughputMiBps && `${throughputMiBps}MiB/s`];
	return [`${type} ${sizeGiB}GiB`, ...more].filter(Boolean).join(", ");
}

/** Without a hypervisor: it takes a quarter of an hour to start, and as long to end. */
export function isMetal(instance: string): boolean {
	return /\.metal\b/.test(instance);
}

// --- internal ---

function like(pattern: RegExp, example: string) {
	return z.string().regex(pattern, `must look like ${example}`);
}
