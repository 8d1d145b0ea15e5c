import { readFileSync } from "node:fs";
import os from "node:os";
import { describe, expect, test } from "vitest";
import { ownSettings } from "../../infra/machine-settings.ts";
import { rentedFile } from "../../infra/rent/rent.fake.ts";
import { EnvironmentFile } from "../model/environment-file.ts";
import { packageVersion } from "../package.ts";
import { around, loadScenario } from "../scenario/load.ts";
import type { GivenRig } from "../scenario/problem.ts";
import { RigFile } from "../scenario/rig-file.ts";
import { cpuQuota, readEnvironment, withHosts } from "./environment.ts";

const at = "2026-01-02T03:04:05.000Z";

test("names the machine and the versions, in the form that reports read", () => {
	const found = readEnvironment(at, { k6: "v2.1.0", go: "go1.26.8" });
	expect(EnvironmentFile.parse(found)).toEqual(found);
	expect(found).toMatchObject({
		mqbench: packageVersion,
		startedAt: at,
		kernel: os.release(),
		node: process.version,
		k6: "v2.1.0",
		go: "go1.26.8",
		systems: {},
	});
	expect(found.cores).toBeGreaterThan(0);
	expect(found).not.toHaveProperty("settings");
	expect(found.os).toContain(os.arch());
});

test("has the settings of the machine, which is asked once", async () => {
	const settings = await ownSettings();
	const found = readEnvironment(at, { settings });
	expect(EnvironmentFile.parse(found).settings).toEqual(settings);
	expect(ownSettings()).toBe(ownSettings());
});

test.each<[string, number | null, Record<string, string>]>([
	["of our own group", 1.5, { "/proc/self/cgroup": "0::/a", "a/cpu.max": "150000 100000" }],
	["in a container", 0.5, { "/proc/self/cgroup": "0::/../x", "cpu.max": "50000 100000" }],
	[
		"of version 1",
		2.5,
		{
			"/proc/self/cgroup": "12:memory:/m\n5:cpu,cpuacct:/d",
			"cpu/d/cpu.cfs_quota_us": "250000",
			"cpu/d/cpu.cfs_period_us": "100000",
		},
	],
	["that is none", null, { "/proc/self/cgroup": "0::/a", "a/cpu.max": "max 100000" }],
])("reads the CPU quota %s", (_, cores, files) => {
	const read = (file: string) => files[file.replace("/sys/fs/cgroup/", "")] ?? null;
	expect(cpuQuota(read)).toBe(cores);
});

test.runIf(process.platform === "linux")("reads the clock source of Linux", () => {
	const { clockSource } = readEnvironment(at);
	expect(clockSource).toMatch(/^\w+$/);
});

test.runIf(process.platform === "linux")(
	"tells one start of the machine from another, without naming it",
	() => {
		const { bootId } = readEnvironment(at);
		expect(bootId).toMatch(/^[0-9a-f]{16}$/);
		expect(readEnvironment(at).bootId).toBe(bootId);
		const own = readFileSync("/proc/sys/kernel/random/boot_id", "utf8");
		expect(own.replaceAll("-", "")).not.toContain(bootId);
	},
);

test("what hosts are set to is noted by role and name, the last word of each", async () => {
	const found = readEnvironment(at);
	const settings = await ownSettings();
	const host = (name: string, role: "brokers" | "load", smt: string) => ({
		name,
		role,
		settings: { ...settings, smt },
	});
	const first = withHosts(found, [host("a", "load", "on"), host("a", "brokers", "on")]);
	const again = withHosts(first, [host("a", "load", "off")]);
	expect(again.hosts).toEqual([host("a", "load", "off"), host("a", "brokers", "on")]);
	expect(EnvironmentFile.parse(again)).toEqual(again);
	expect(withHosts(again, [])).toBe(again);
});

const scenario = (more: string, rig?: GivenRig) =>
	loadScenario(
		"s.yaml",
		`${more}system: nats\nworkload: { rate: 3/s, message: 256B, duration: 9s, connections: 2 }\n`,
		{},
		{},
		{ ...around("s.yaml"), rig },
	);
const given = (parts: object): GivenRig => ({
	path: "rig.json",
	rig: RigFile.parse({ ...rentedFile, ...parts }),
});
const rigIn = (more: string, rig?: GivenRig) => {
	const found = readEnvironment(at, { scenario: scenario(more, rig) });
	expect(EnvironmentFile.parse(found)).toEqual(found);
	return found.rig;
};

describe("machines of a rig", () => {
	const planned = (brokers: string) =>
		rigIn(
			`target: aws\nclients: 2\naws: { region: eu-central-1, brokers: ${brokers}, clients: { instance: c6in.xlarge } }\n`,
		);
	const host = (n: number) => ({ host: `B${n}`, address: `10.0.0.${n}` });
	const own = {
		cloud: null,
		target: "existing",
		facts: { rack: "7", n: 3 },
		brokers: [
			{ system: "nats", broker: "nats", hosts: [host(2), host(1)] },
			{ system: "kafka", broker: "kafka", hosts: [host(1)] },
		],
		clients: [{ host: "c1", user: "bench", port: 2222 }, { host: "c2" }],
	};

	test("of a cluster are pods, wherever the cluster puts them", () => {
		const block = "kubernetes: { context: kind, namespace: bench }\n";
		expect(rigIn(`target: kubernetes\n${block}`)).toMatchObject({
			id: null,
			machines: "pods of Kubernetes (namespace bench of context kind)",
		});
		expect(rigIn(block)).toBeUndefined();
	});

	test("that are rented are their types by role, as planned and as they are", () => {
		const volume = "{ type: gp3, size: 200GiB, iops: 6000 }";
		for (const [brokers, text] of [
			["{ instance: i4i.xlarge }", null],
			[`{ instance: i4i.xlarge, volume: ${volume} }`, "gp3 200GiB, 6000 IOPS"],
		] as const) {
			const machines = `1 i4i.xlarge${text === null ? "" : ` with ${text}`} for brokers, 2 c6in.xlarge for the load (aws eu-central-1)`;
			const rented = { cloud: "aws eu-central-1", machines, here: false };
			expect(planned(brokers)).toMatchObject({ ...rented, id: null, clients: [] });
			const zone = "eu-central-1a";
			const facts = { brokers: "i4i.xlarge", clients: "c6in.xlarge", volume: text, zone };
			expect(rigIn("", given({ facts, createdAt: at, clients: own.clients }))).toMatchObject({
				...rented,
				id: "x-1",
				createdAt: at,
				clients: ["c1:2222", "c2"],
				facts: { zone },
			});
		}
	});

	test("that are yours are their names, each once, whoever is let in", () => {
		expect(rigIn("", given(own))).toEqual({
			id: "x-1",
			createdAt: null,
			cloud: null,
			machines: "hosts b1, b2 for brokers, c1:2222, c2 for the load",
			brokers: ["b1", "b2"],
			clients: ["c1:2222", "c2"],
			here: false,
			facts: { rack: "7" },
		});
		expect(rigIn("clients: 1\n", given(own))?.clients).toEqual(["c1:2222"]);
		expect(rigIn("", given({ ...own, clients: [] }))).toMatchObject({
			machines: "hosts b1, b2 for brokers",
			clients: [],
			here: true,
		});
	});

	test("are none where brokers have a url and the load comes from here", () => {
		expect(rigIn("")).toBeUndefined();
		const brokers = [{ system: "nats", broker: "nats", url: "nats://b:4222" }];
		const far = { ...own, brokers };
		expect(rigIn("", given({ ...far, clients: [] }))).toBeUndefined();
		expect(rigIn("", given({ ...far, clients: [{ host: "c" }] }))).toMatchObject({
			machines: "host c for the load",
		});
	});
});
