import { existsSync } from "node:fs";
import type { AwsConfig } from "./config.ts";
import type { RigOutput } from "./outputs.ts";

// Without them there is nothing to test, and skipping would hide that.
if (!existsSync(new URL("node_modules/@pulumi/pulumi", import.meta.url)))
	throw new Error("Pulumi's packages are not there; install them with: npm run aws");

/** For tests: what the program asks Pulumi for, without Pulumi and without AWS. */
export interface Asked {
	/** "aws:ec2/instance:Instance". */
	readonly type: string;
	readonly name: string;
	// biome-ignore lint/suspicious/noExplicitAny: each type has its own, and a test says what it expects of them.
	readonly inputs: any;
	/** Name of the provider that makes it; null: the stack's own, which takes its settings from anywhere. */
	readonly provider: string | null;
	/** Names of what has to be there before it. */
	readonly after: readonly string[];
	/** How long it may take to make it and to remove it: "40m"; "": as it does by itself. */
	readonly limits: readonly [create: string, remove: string];
}

export interface StoodUp {
	readonly asked: readonly Asked[];
	/** Of one type: "Instance". */
	all(type: string): readonly Asked[];
	/** Name of it begins so: "broker", "client". */
	machines(role?: "broker" | "client"): readonly Asked[];
	/** The program's output "rig", and whether Pulumi hides it. */
	readonly output: RigOutput;
	readonly hidden: boolean;
}

/** A rig of that configuration, stood up with Pulumi's own mocks. */
export async function standUp(config: AwsConfig): Promise<StoodUp> {
	// Before everything that reads it: the program is loaded afterwards.
	const pulumi = await import("@pulumi/pulumi");
	const asked: Asked[] = [];
	await pulumi.runtime.setMocks(
		{
			newResource({ type, name, inputs, provider }) {
				asked.push({
					type,
					name,
					inputs,
					// "urn:pulumi:stack::project::types::name::id"
					provider: provider ? (provider.split("::").at(-2) ?? null) : null,
					after: registered.getDependenciesList().map((urn: string) => urn.split("::").at(-1)),
					limits: [
						registered.getCustomtimeouts()?.getCreate() ?? "",
						registered.getCustomtimeouts()?.getDelete() ?? "",
					],
				});
				const state = { ...inputs };
				// What AWS and its provider choose.
				if (type === "aws:ec2/instance:Instance") {
					const last = hostNumber(name);
					state.publicIp = `203.0.113.${last}`;
					state.privateIp = `10.77.0.${last}`;
				}
				if (type === "aws:ec2/placementGroup:PlacementGroup") state.name = `${name}-1a2b3c4`;
				if (type === "aws:ec2/keyPair:KeyPair") state.keyName = `${name}-1a2b3c4`;
				return { id: `${name}-id`, state };
			},
			call: ({ token }) => {
				throw new Error(`the program asks ${token}, but everything is decided`);
			},
		},
		"mqbench",
		config.id,
		false,
	);
	// Pulumi's mocks are not told of these.
	// biome-ignore lint/suspicious/noExplicitAny: Pulumi's messages have no types of their own.
	let registered: any;
	const monitor = pulumi.runtime.getMonitor() as unknown as {
		registerResource(request: unknown, answer: unknown): unknown;
	};
	const register = monitor.registerResource.bind(monitor);
	monitor.registerResource = (request, answer) => {
		registered = request;
		return register(request, answer);
	};
	const { Rig } = await import("./rig.ts");
	const { file } = new Rig(config);
	const [output, hidden] = await Promise.all([
		new Promise<RigOutput>((known) => void file.apply(known)),
		pulumi.isSecret(file),
	]);
	// Until nothing more is asked for.
	await pulumi.runtime.disconnect();
	const all = (type: string) => asked.filter((one) => one.type.endsWith(`:${type}`));
	return {
		asked,
		all,
		machines: (role = undefined) =>
			all("Instance").filter(({ name }) => role === undefined || name.includes(`-${role}-`)),
		output,
		hidden,
	};
}

/** Of a machine's addresses: broker 2 has .12, client 2 .102. */
function hostNumber(name: string): number {
	const [, role, number] = /-(broker|client)-(\d+)$/.exec(name) ?? [];
	return (role === "broker" ? 10 : 100) + Number(number);
}

/** One broker's machine and one client's. */
export const SMALL: AwsConfig = {
	id: "small",
	owner: "kim",
	version: "0.1.0",
	expiresAt: "2026-11-20T12:00:00Z",
	ttlMinutes: 120,
	region: "eu-central-1",
	zone: "eu-central-1b",
	profile: null,
	account: "123456789012",
	callerCidr: "203.0.113.7/32",
	publicKey: "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFake small",
	identity: "id_ed25519",
	hostKey: null,
	knownHosts: "known_hosts",
	ami: "ami-0123456789abcdef0",
	user: "admin",
	brokers: { instance: "i4i.xlarge", count: 1, volume: null },
	clients: { instance: "c6in.xlarge", count: 1, spot: false },
	systems: [{ system: "nats", broker: "nats", nodes: 1 }],
	packages: [],
	endpoint: null,
};

/** Three machines with volumes for systems of three and of one node, and two cheap clients. */
export const WIDE: AwsConfig = {
	...SMALL,
	id: "wide",
	ttlMinutes: 45,
	profile: "bench",
	brokers: {
		instance: "m6i.2xlarge",
		count: 3,
		volume: { type: "io2", sizeGiB: 100, iops: 16_000, throughputMiBps: null },
	},
	clients: { instance: "c6in.2xlarge", count: 2, spot: true },
	systems: [
		{ system: "kafka", broker: "kafka", nodes: 3 },
		{ system: "redis", broker: "redis", nodes: 1 },
	],
	packages: ["default-jre-headless", "redis-server"],
};

/** Clients alone. */
export const NO_BROKERS: AwsConfig = {
	...SMALL,
	id: "clients",
	brokers: { instance: "i4i.xlarge", count: 0, volume: null },
	clients: { instance: "c6in.xlarge", count: 3, spot: false },
	systems: [],
};
