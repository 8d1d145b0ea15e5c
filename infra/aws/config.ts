import { readFileSync } from "node:fs";
import { z } from "zod";

/**
 * Input of the Pulumi program, one value of the stack's configuration (`mqbench:rig`). Everything has been decided before: the program asks
 * nobody and chooses nothing.
 */
export const AwsConfig = z.strictObject({
	/** Name of the rig: of its stack, and in the tag mqbench:run. */
	id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/),
	/** Tag mqbench:owner. */
	owner: z.string().min(1).max(128),
	/** mqbench's own; tag mqbench:version. */
	version: z.string().min(1),
	/** Tag mqbench:expires: after this time a sweep may remove the rig. Not before the machines end themselves. */
	expiresAt: z.iso.datetime(),
	/** How long after their start the machines end themselves. */
	ttlMinutes: z.int().min(10).max(10_080),
	region: z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d$/),
	zone: z.string().min(1),
	profile: z.string().min(1).nullable().default(null),
	/** The AWS account for the rig: with credentials of another account nothing is made or taken down. null: not known. */
	account: z
		.string()
		.regex(/^\d{12}$/)
		.nullable()
		.default(null),
	/** The one address that SSH is open to. */
	callerCidr: z.cidrv4().refine((cidr) => cidr.endsWith("/32"), {
		error: "must be one address, such as 203.0.113.7/32",
	}),
	/** Public half of a key that lives as long as the rig. */
	publicKey: z.string().regex(/^ssh-ed25519 [A-Za-z0-9+/=]+( [\w@.-]+)?$/),
	/** File of its private half, as rig.json names it. The program does not read it. */
	identity: z.string().min(1),
	/** Absolute path of the private half of the machines' host key, its public half beside it (".pub"); null: they make their own. */
	hostKey: z
		.string()
		.regex(/^(\/|[A-Za-z]:[\\/])/)
		.nullable()
		.default(null),
	/** File by which ssh knows the machines' host keys, as rig.json names it. */
	knownHosts: z.string().min(1),
	ami: z.string().regex(/^ami-[0-9a-f]+$/),
	/** The user for SSH; in Debian's images it is "admin". */
	user: z.string().min(1).default("admin"),
	brokers: z.strictObject({
		instance: z.string().min(1),
		count: z.int().min(0).max(9),
		/** A volume of its own; null: the machine's own NVMe. */
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
			/** A broker that rig.json may name. */
			broker: z.string().regex(/^[a-z0-9-]+$/),
			nodes: z.int().min(1).max(9),
		}),
	),
	/** Debian packages for the brokers. */
	packages: z.array(z.string().regex(/^[a-z0-9][a-z0-9.+-]*$/)).default([]),
	/** Address of an emulator, for tests; null: AWS. */
	endpoint: z.url().nullable().default(null),
});
export type AwsConfig = z.infer<typeof AwsConfig>;

/** The disk that each machine starts from, for Debian, the brokers' packages and the reports of a run. */
export const ROOT_DISK = { type: "gp3", sizeGiB: 16 } as const;

/** Without a hypervisor: it takes a quarter of an hour to start, and as long to end. */
export function isMetal(instance: string): boolean {
	return /\.metal\b/.test(instance);
}

/** The program's configuration, or everything that is wrong with it: one sentence each, with the place ("brokers.count"). */
export function parseConfig(value: unknown): { config: AwsConfig } | { wrong: string[] } {
	if (value === undefined)
		return { wrong: ["mqbench:rig is missing in the stack's configuration; README.md shows one"] };
	const parsed = AwsConfig.safeParse(withTimes(value));
	if (!parsed.success)
		return {
			wrong: parsed.error.issues
				// A value may break two rules; report the first.
				.filter(
					({ path }, i, all) =>
						all.findIndex((other) => placeOf(other.path) === placeOf(path)) === i,
				)
				.flatMap((issue) => sentences(issue, value))
				.map(within),
		};
	const wrong = contradictions(parsed.data).map(within);
	return wrong.length > 0 ? { wrong } : { config: parsed.data };
}

// --- internal ---

/** Pulumi turns an unquoted YAML time into Go's form: "2026-11-20 14:00:00 +0000 UTC". */
function withTimes(value: unknown): unknown {
	if (typeof value !== "object" || value === null) return value;
	const { expiresAt } = value as { expiresAt?: unknown };
	if (typeof expiresAt !== "string") return value;
	return {
		...value,
		expiresAt: expiresAt.replace(
			/^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?) \+0000 UTC$/,
			"$1T$2Z",
		),
	};
}

/** Combinations that AWS would refuse or that nobody can mean, although each value is valid. */
function contradictions({ brokers, systems }: AwsConfig): string[] {
	const { count, volume } = brokers;
	const kinds = brokerKinds();
	return [
		...(volume?.type === "io2" && volume.iops === null
			? ["brokers.volume.iops is missing; an io2 volume has no default"]
			: []),
		...(volume?.type === "io2" && volume.throughputMiBps !== null
			? ["brokers.volume.throughputMiBps is for gp3 alone; write null for an io2 volume"]
			: []),
		...systems.flatMap(({ system, broker, nodes }, i) => [
			...(kinds === null || kinds.includes(broker)
				? []
				: [
						`systems[${i}].broker must be ${kinds.map((one) => JSON.stringify(one)).join(" or ")}, got ${JSON.stringify(broker)}`,
					]),
			...(systems.findIndex((other) => other.system === system) < i
				? [`systems[${i}].system is ${JSON.stringify(system)} twice; give each system its own name`]
				: []),
			...(nodes > count
				? [
						`systems[${i}].nodes is ${nodes} and brokers.count ${count}; write a count of at least ${nodes}`,
					]
				: []),
		]),
	];
}

/**
 * Brokers that rig.json may name. Others would be refused only when the machines cost money already. The schema is next to this
 * project, or next to the folder that this file was compiled to. null: somebody has copied the project elsewhere.
 */
function brokerKinds(): readonly string[] | null {
	for (const up of ["../", "../../"]) {
		let text: string;
		try {
			text = readFileSync(new URL(`${up}rig.schema.json`, import.meta.url), "utf8");
		} catch {
			continue;
		}
		const { brokers } = JSON.parse(text).properties;
		return brokers.items.properties.broker.enum;
	}
	return null;
}

function sentences(issue: z.core.$ZodIssue, whole: unknown): string[] {
	const place = placeOf(issue.path);
	const value = issue.path.reduce<unknown>(
		(node, step) => (node as Record<PropertyKey, unknown>)?.[step],
		whole,
	);
	const got = JSON.stringify(value);
	switch (issue.code) {
		case "unrecognized_keys":
			return issue.keys.map((key) => `there is no ${placeOf([...issue.path, key])}; remove it`);
		case "invalid_value":
			return [
				`${place} must be ${issue.values.map((one) => JSON.stringify(one)).join(" or ")}, got ${got}`,
			];
		case "invalid_type":
			return [
				value === undefined
					? `${place} is missing; write ${KINDS[issue.expected] ?? issue.expected}`
					: `${place} must be ${KINDS[issue.expected] ?? issue.expected}, got ${got}`,
			];
		case "too_small":
			return [
				issue.origin === "string"
					? `${place} is empty; write a text`
					: `${place} must be at least ${issue.minimum}, got ${got}`,
			];
		case "too_big":
			return [
				issue.origin === "string"
					? `${place} is longer than ${issue.maximum} characters`
					: `${place} must be at most ${issue.maximum}, got ${got}`,
			];
		case "invalid_format":
			return [
				`${place} must look like ${EXAMPLES[String(issue.path.filter((step) => typeof step === "string").at(-1))] ?? issue.format}, got ${got}`,
			];
		default:
			return [`${place} ${issue.message}, got ${got}`];
	}
}

const within = (sentence: string) => `mqbench:rig: ${sentence}`;

const KINDS: Readonly<Record<string, string>> = {
	string: "a text",
	number: "a number",
	int: "a whole number",
	boolean: "true or false",
	array: "a list",
	object: "a map",
};

/** Formats, by key. */
const EXAMPLES: Readonly<Record<string, string>> = {
	id: '"nightly-1" (letters, digits, - _ and dots, at most 63)',
	expiresAt: "2026-11-20T12:00:00Z",
	region: "eu-central-1",
	account: '"123456789012" (in quotes)',
	callerCidr: "203.0.113.7/32",
	publicKey: '"ssh-ed25519 AAAA... name" (a file that ends in .pub)',
	hostKey: "/home/kim/host_ed25519 (an absolute path)",
	ami: "ami-0123456789abcdef0",
	broker: "a broker's name",
	packages: "a Debian package's name",
	endpoint: "http://127.0.0.1:5000",
};

function placeOf(path: readonly PropertyKey[]): string {
	const text = path
		.map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`))
		.join("")
		.replace(/^\./, "");
	return text === "" ? "it" : text;
}
