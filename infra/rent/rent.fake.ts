import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { onTestFinished } from "vitest";
import { packageFolder } from "../../runner/package.ts";
import { RigFile, type RigFileInput } from "../../runner/scenario/rig-file.ts";
import { AwsConfig } from "../aws/config.ts";
import { testFolder } from "../test-folder.fake.ts";
import { IMAGES } from "./emulator.fake.ts";
import type { Offer } from "./offer.ts";
import type { CloudSide } from "./rent.ts";
import type { Stack } from "./stack.ts";
import type { Offered } from "./stand-up.ts";

/** For tests: the input of the program of a small rig, in moto's account. */
export function awsConfig(parts: Partial<AwsConfig> = {}): AwsConfig {
	return AwsConfig.parse({
		id: "demo-1",
		owner: "moto",
		version: "0.1.0",
		expiresAt: "2026-01-02T05:04:05Z",
		ttlMinutes: 120,
		region: "eu-central-1",
		zone: "eu-central-1a",
		account: "123456789012",
		callerCidr: "203.0.113.7/32",
		publicKey: "ssh-ed25519 AAAA mqbench-demo-1",
		identity: "id_ed25519",
		knownHosts: "known_hosts",
		ami: IMAGES.newest,
		brokers: { instance: "i4i.xlarge", count: 1, volume: null },
		clients: { instance: "c6in.xlarge", count: 2, spot: false },
		systems: [{ system: "nats", broker: "nats", nodes: 1 }],
		...parts,
	});
}

/** For tests: an offer that was agreed to. */
export function offered(id = "demo-1", parts: Partial<AwsConfig> = {}): Offered {
	const { publicKey, identity, hostKey, knownHosts, ...config } = awsConfig({ id, ...parts });
	return { config, machines: { "i4i.xlarge": 1, "c6in.xlarge": 2 }, hourlyUsd: 0.8211 };
}

const access = { user: "admin", identity: "id_ed25519", knownHosts: "known_hosts", setUp: true };

/** For tests: machines of a rented rig, hosts for one system "nats", and one for the load. */
export const rentedFile: RigFileInput = {
	version: 1,
	id: "x-1",
	target: "aws",
	expiresAt: "2026-01-02T05:04:05Z",
	brokers: [
		{
			system: "nats",
			broker: "nats",
			hosts: [{ host: "203.0.113.1", address: "10.0.0.1", ...access }],
		},
	],
	clients: [{ host: "203.0.113.2", ...access }],
	cloud: {
		provider: "aws",
		region: "eu-central-1",
		owner: "ada",
		machines: { "i4i.xlarge": 1, "c6in.xlarge": 1 },
		hourlyUsd: 0.9,
		endsAt: "2026-01-02T05:04:05Z",
		state: "pulumi",
	},
};

/** For tests: the result of Pulumi's program for the offered rig. */
export function output(id = "demo-1"): RigFileInput {
	const { cloud, clients = [], ...rig } = rentedFile;
	const more = { host: "203.0.113.3", ...access };
	return { ...rig, id, clients: [...clients, more], facts: { placementGroup: "pg-1" } };
}

/** For tests: Pulumi, which records its requests. */
export function fakeStack(parts: Partial<Stack> = {}): Stack & { readonly asked: string[] } {
	const asked: string[] = [];
	return {
		asked,
		async up(config, how) {
			asked.push("up");
			return parts.up ? parts.up(config, how) : output(config.id);
		},
		async destroy(say, patienceMs) {
			asked.push("destroy");
			return (await parts.destroy?.(say, patienceMs)) ?? true;
		},
	};
}

/**
 * A separate process that stands up the rig demo-1, prints "ready", and waits; SIGUSR2 has it take the rig down. `open` replaces Pulumi.
 */
export function standUpAlone(env: Readonly<Record<string, string>>, open = ""): ChildProcess {
	const file = pathToFileURL(path.join(packageFolder, "dist/infra/rent/stand-up.js")).href;
	const endpoint = env.MQBENCH_AWS_ENDPOINT ?? null;
	const program = `
		const { standUp } = await import(${JSON.stringify(file)});
		const sink = { isTTY: false, columns: 80, write: (text) => process.stderr.write(text) };
		const rig = await standUp(${JSON.stringify(offered("demo-1", { endpoint }))}, {
			stdout: sink, stderr: sink, cwd: process.cwd(), env: process.env, ask: null,
			clock: { nowMs: Date.now, monotonicMs: () => performance.now() },
			stop: new AbortController().signal,
		}, { ${open} });
		process.on("SIGUSR2", () => rig.teardown());
		console.log("ready");
		setInterval(() => {}, 1000);
	`;
	const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
		env: { PATH: process.env.PATH, ...env },
		stdio: ["ignore", "pipe", "ignore"],
	});
	onTestFinished(() => void child.kill("SIGKILL"));
	return child;
}

/** Renting for tests of commands: rents nothing, and records its requests in order. */
export interface FakeCloud extends CloudSide {
	readonly asked: string[];
	/** The arguments of each offer. */
	readonly offered: Parameters<CloudSide["offer"]>[];
}

/** Parts that a test changes; each may throw. */
export function fakeCloud(
	parts: {
		readonly prepare?: () => void;
		readonly offer?: () => Partial<Offer>;
		readonly standUp?: () => void;
		readonly teardown?: () => void;
	} = {},
): FakeCloud {
	const asked: string[] = [];
	const offers: FakeCloud["offered"] = [];
	return {
		asked,
		offered: offers,
		async prepare() {
			asked.push("prepare");
			parts.prepare?.();
		},
		async offer(...args) {
			asked.push("offer");
			offers.push(args);
			const price = { hourlyUsd: 0.9, unpriced: null };
			const lines = ["zone     eu-central-1b"];
			return { ...offered(), ...price, lines, warnings: [], ...parts.offer?.() };
		},
		async standUp() {
			asked.push("stand up");
			parts.standUp?.();
			const place = path.join(testFolder(), "rig.json");
			writeFileSync(place, JSON.stringify(rentedFile));
			return {
				place: { shown: place, path: place },
				file: RigFile.parse(rentedFile),
				keep: () => void asked.push("keep"),
				async teardown() {
					asked.push("teardown");
					parts.teardown?.();
				},
			};
		},
	};
}
