import { readFileSync } from "node:fs";
import os from "node:os";
import { expect, test } from "vitest";
import { packageVersion } from "../package.ts";
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
