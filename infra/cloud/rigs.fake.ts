import { AwsConfig } from "../aws/config.ts";
import type { Offered } from "./lifecycle.ts";

/** For tests: what the program of a small rig is told. */
export function awsConfig(parts: Partial<AwsConfig> = {}): AwsConfig {
	return AwsConfig.parse({
		id: "demo-1",
		owner: "jane",
		version: "0.1.0",
		expiresAt: "2026-01-02T05:04:05Z",
		ttlMinutes: 120,
		region: "eu-central-1",
		zone: "eu-central-1a",
		callerCidr: "203.0.113.7/32",
		publicKey: "ssh-ed25519 AAAA mqbench-demo-1",
		identity: "id_ed25519",
		knownHosts: "known_hosts",
		ami: "ami-0123",
		brokers: { instance: "i4i.xlarge", count: 1, volume: null },
		clients: { instance: "c6in.xlarge", count: 2, spot: false },
		systems: [{ system: "nats", broker: "nats", nodes: 1 }],
		...parts,
	});
}

/** For tests: an offer that was agreed to. */
export function offered(id = "demo-1"): Offered {
	const { publicKey, identity, hostKey, knownHosts, ...config } = awsConfig({ id });
	return {
		cloud: "aws",
		config,
		machines: { "i4i.xlarge": 1, "c6in.xlarge": 2 },
		hourlyUsd: 0.8211,
	};
}

/** For tests: what Pulumi's program says of that rig. */
export function output(id = "demo-1"): object {
	const access = { user: "admin", identity: "/k", knownHosts: "/h", setUp: true };
	return {
		version: 1,
		id,
		target: "aws",
		expiresAt: "2026-01-02T05:04:05Z",
		brokers: [
			{
				system: "nats",
				broker: "nats",
				hosts: [{ host: "198.51.100.1", address: "10.0.0.5", ...access }],
			},
		],
		clients: [
			{ host: "198.51.100.2", ...access },
			{ host: "198.51.100.3", ...access },
		],
		facts: { placementGroup: "pg-1" },
	};
}
