import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { beforeAll, expect, test } from "vitest";
import { RigFile } from "../../runner/scenario/rig-file.ts";
import { runProject } from "./engine.fake.ts";
import { SMALL, WIDE } from "./pulumi.fake.ts";
import { refusal } from "./refusal.ts";

const folder = import.meta.dirname;

// `npm test` builds before, and other tests read what it has built: only what is older than its source is compiled here.
beforeAll(() => {
	const stale = readdirSync(folder)
		.filter((name) => /^(?!.*\.(test|fake)\.ts$).*\.ts$/.test(name))
		.some((name) => {
			const compiled = path.join(folder, "bin", name.replace(/ts$/, "js"));
			return (
				!existsSync(compiled) ||
				statSync(compiled).mtimeMs < statSync(path.join(folder, name)).mtimeMs
			);
		});
	if (!stale) return;
	const tsc = createRequire(import.meta.url).resolve("typescript/package.json");
	execFileSync(
		process.execPath,
		[path.join(path.dirname(tsc), "bin/tsc"), "-p", path.join(folder, "tsconfig.build.json")],
		{ stdio: "inherit" },
	);
}, 180_000);

test("Pulumi's loader runs what was compiled, and the stack has the rig as its one output", async () => {
	const { code, said, registered, outputs } = await runProject({
		"mqbench:rig": JSON.stringify(WIDE),
	});
	expect(said).toBe("");
	expect(code).toBe(0);
	expect(Object.keys(outputs ?? {})).toEqual(["rig"]);
	// A secret would be an object around it.
	const rig = RigFile.parse(outputs?.rig);
	expect(rig.brokers[0]?.hosts.map(({ address }) => address)).toEqual([
		"10.77.0.11",
		"10.77.0.12",
		"10.77.0.13",
	]);
	expect(rig.clients.map(({ host }) => host)).toEqual(["203.0.113.101", "203.0.113.102"]);

	const machines = registered.filter(({ type }) => type.endsWith(":Instance"));
	expect(machines).toHaveLength(5);
	// Their set-up needs the way out; and taken down in the opposite order, none still has an address when the gateway goes.
	for (const { name, after } of machines)
		expect(after, name).toEqual(
			expect.arrayContaining([
				"mqbench-wide-association",
				"mqbench-wide-gateway",
				"mqbench-wide-routes",
			]),
		);
	// Everything is a part of the rig.
	const parents = new Map(registered.map(({ name, parent }) => [name, parent]));
	for (const { name, type } of registered) {
		if (type === "pulumi:pulumi:Stack") continue;
		let top: string | null = name;
		while (top !== null && top !== "mqbench-wide") top = parents.get(top) ?? null;
		expect(top, name).toBe("mqbench-wide");
	}
}, 180_000);

test("machines without a hypervisor get their time to start and to end, in rig.json until SSH, too; no others do", async () => {
	const { registered, outputs } = await runProject({
		"mqbench:rig": JSON.stringify({
			...SMALL,
			brokers: { ...SMALL.brokers, instance: "i4i.metal" },
		}),
	});
	const limitsOf = (role: string) =>
		registered.find(({ name }) => name.endsWith(`-${role}-1`))?.limits;
	const none = { create: "", delete: "" };
	expect(limitsOf("broker")).toEqual({ create: "40m", delete: "60m" });
	expect(limitsOf("client")).toEqual(none);
	const rig = RigFile.parse(outputs?.rig);
	expect(rig.brokers[0]?.hosts[0]?.bootMinutes).toBe(25);
	expect(rig.clients[0]?.bootMinutes).toBeUndefined();
}, 180_000);

test("a configuration that is wrong is told in sentences, and nothing is made", async () => {
	const { code, said, registered } = await runProject({
		"mqbench:rig": JSON.stringify({ ...SMALL, callerCidr: "0.0.0.0/0", ttlMinutes: 5 }),
	});
	expect(code).not.toBe(0);
	expect(said).toContain("mqbench:rig: ttlMinutes must be at least 10, got 5");
	expect(said).toContain(
		'mqbench:rig: callerCidr must be one address, such as 203.0.113.7/32, got "0.0.0.0/0"',
	);
	expect(said).not.toMatch(/^\s+at /m);
	expect(registered.map(({ type }) => type)).toEqual(["pulumi:pulumi:Stack"]);
}, 180_000);

test("what the program refuses has no stack, or Pulumi takes half a minute to print it", () => {
	expect(refusal("no").message).toBe("no");
	expect(refusal("no").stack).toBe("");
});

test("a machine without an address is told, as no rig.json could name it", async () => {
	const { code, said } = await runProject(
		{ "mqbench:rig": JSON.stringify(SMALL) },
		{ publicIp: "" },
	);
	expect(code).not.toBe(0);
	expect(said).toContain(
		"AWS gave machine 1 of type i4i.xlarge no public address; take the rig down and stand it up again",
	);
	expect(said).not.toMatch(/^\s+at /m);
}, 180_000);

test("a stack without a configuration is told so", async () => {
	const { said } = await runProject({});
	expect(said.trim()).toBe(
		"mqbench:rig is missing in the stack's configuration; README.md shows one",
	);
}, 180_000);
