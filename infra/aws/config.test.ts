import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { AwsConfig, wrongIn } from "./config.ts";

const read = (name: string) => readFileSync(path.join(import.meta.dirname, name), "utf8");
const wrong = (value: unknown) => {
	const { error } = AwsConfig.safeParse(value);
	return error ? wrongIn(error) : "";
};

const [, yaml = ""] = /```yaml\n(.*?)```/s.exec(read("README.md")) ?? [];
const SHOWN = parse(yaml).config["mqbench:rig"];

test("the configuration that the README shows is right, and shows every key that has no default", () => {
	expect(wrong(SHOWN)).toBe("");
	for (const key of Object.keys(AwsConfig.shape))
		if (!["profile", "user", "endpoint"].includes(key)) expect(SHOWN).toHaveProperty(key);
});

test("a time without quotes is the same: Pulumi reads YAML's times, and prints them as Go does", () => {
	const { expiresAt } = AwsConfig.parse({
		...SHOWN,
		expiresAt: "2026-11-20 12:00:00.25 +0000 UTC",
	});
	expect(expiresAt).toBe("2026-11-20T12:00:00.25Z");
});

const MACHINES = { ...SHOWN.brokers, count: 1 };

test.each<[object, string]>([
	[{ callerCidr: "203.0.113.0/24" }, "callerCidr: must look like 203.0.113.7/32: one address"],
	[{ ttlMinutes: 5 }, "ttlMinutes: Too small: expected number to be >=10"],
	[{ ttlMinutes: 100_000 }, "ttlMinutes: Too big: expected number to be <=10080"],
	[{ ttlMinutes: "2h" }, "ttlMinutes: Invalid input: expected number, received string"],
	[{ expiresAt: "tomorrow" }, "expiresAt: must look like 2026-11-20T12:00:00Z"],
	[{ region: "eu-central-1b" }, "region: must look like eu-central-1"],
	[{ publicKey: "ssh-rsa AAAA" }, "publicKey: must look like ssh-ed25519 AAAA... name"],
	[
		{ brokers: { ...MACHINES, volume: { type: "st1", sizeGiB: 1 } } },
		'brokers.volume.type: Invalid option: expected one of "gp3"|"io2"',
	],
	[
		{ systems: [{ system: "a", broker: "kafka", nodes: 4 }] },
		"brokers.count: must be at least the nodes of each system",
	],
	[{ packages: ["redis; rm -rf /"] }, "packages[0]: must look like default-jre-headless"],
	[{ zone: undefined }, "zone: Invalid input: expected string, received undefined"],
])("%j is reported with its place", (change, sentence) => {
	expect(wrong({ ...SHOWN, ...change })).toBe(`mqbench:rig.${sentence}`);
});

test("everything that is wrong is reported at once, one line each", () => {
	expect(wrong({ ...SHOWN, ttlMinutes: 1, ami: "x", colour: 5 }).split("\n")).toHaveLength(3);
});

test("Pulumi runs what is compiled, and compiles nothing itself", () => {
	const project = parse(read("Pulumi.yaml"));
	const { main, type } = JSON.parse(read("package.json"));
	const { outDir } = JSON.parse(read("tsconfig.build.json")).compilerOptions;
	expect([project.main, main]).toEqual([`${outDir}/index.js`, `${outDir}/index.js`]);
	// Else Pulumi's loader takes it for CommonJS.
	expect(type).toBe("module");
	expect(project.runtime.options.typescript).toBe(false);
});
