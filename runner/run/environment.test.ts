import { readFileSync } from "node:fs";
import os from "node:os";
import { expect, test } from "vitest";
import { RigFile } from "../../infra/rig-file.ts";
import { rentedFile } from "../commands/cloud.fake.ts";
import { packageVersion } from "../package.ts";
import { around, loadScenario } from "../scenario/load.ts";
import type { GivenRig } from "../scenario/overrides.ts";
import { readEnvironment } from "./environment.ts";
import { EnvironmentFile } from "./environment-file.ts";

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
	expect(found.os).toContain(os.arch());
});

test("what nobody knows is null, never a guess", () => {
	expect(readEnvironment(at, { k6: "unknown", go: null }).go).toBeNull();
});

test.runIf(process.platform === "linux")(
	"reads the clock source of Linux",
	() => {
		const { clockSource } = readEnvironment(at, { k6: "unknown", go: null });
		expect(clockSource).toMatch(/^\w+$/);
	},
);

test.runIf(process.platform === "linux")(
	"tells one start of the machine from another, without naming it",
	() => {
		const versions = { k6: "unknown", go: null };
		const { bootId } = readEnvironment(at, versions);
		expect(bootId).toMatch(/^[0-9a-f]{16}$/);
		expect(readEnvironment(at, versions).bootId).toBe(bootId);
		const own = readFileSync("/proc/sys/kernel/random/boot_id", "utf8");
		expect(own.replaceAll("-", "")).not.toContain(bootId);
	},
);

test("an environment of before starts were told apart can be read", () => {
	const { bootId: _, ...old } = readEnvironment(at, { k6: "x", go: null });
	expect(EnvironmentFile.parse(old).bootId).toBeNull();
});

test("names machines that are rented, of a rig or before there is one", () => {
	const versions = { k6: "unknown", go: null };
	const scenario = (more: string, rig?: GivenRig) =>
		loadScenario(
			"s.yaml",
			`${more}system: nats\nworkload: { rate: 3/s, message: 256B, duration: 9s, connections: 2 }\n`,
			{},
			{},
			{ ...around("s.yaml"), rig },
		);
	const planned = scenario(
		"target: aws\nclients: 2\naws: { region: eu-central-1, brokers: { instance: i4i.xlarge }, clients: { instance: c6in.xlarge } }\n",
	);
	expect(readEnvironment(at, versions, planned).rented).toEqual({
		rig: null,
		machines: "2 c6in.xlarge, 1 i4i.xlarge (aws eu-central-1)",
	});
	const rig = RigFile.parse({
		...rentedFile,
		facts: { zone: "eu-central-1a", ami: "ami-0abc", mqbench: "0.1.0" },
	});
	expect(
		readEnvironment(at, versions, scenario("", { path: "rig.json", rig }))
			.rented,
	).toEqual({
		rig: "x-1",
		machines: "1 c6in.xlarge, 1 i4i.xlarge (aws eu-central-1)",
		facts: { zone: "eu-central-1a", ami: "ami-0abc", mqbench: "0.1.0" },
	});
	expect(readEnvironment(at, versions, scenario("")).rented).toBeUndefined();
});
