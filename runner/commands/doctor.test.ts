import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { fakeMachine } from "../doctor/machine.fake.ts";
import { awsParts, thisMachine } from "../doctor/this-machine.ts";
import { fakeWorld } from "../world.fake.ts";
import { doctor } from "./doctor.ts";

describe("mqbench doctor", () => {
	test("ends with 0 when nothing is bad, whatever is unknown", async () => {
		const world = fakeWorld();
		expect(await doctor({}, world, fakeMachine())).toBe(0);
		expect(world.out()).toContain("ok       cores: 8 cores.");
		expect(world.err()).toBe("");
	});

	test("ends with 3 when something is bad", async () => {
		const world = fakeWorld();
		expect(await doctor({}, world, fakeMachine({ cores: 1 }))).toBe(3);
		expect(world.out()).toMatch(/^bad {6}cores: 1 core\. /m);
	});

	test("--json has the findings for a program", async () => {
		const world = fakeWorld();
		await doctor({ json: true }, world, fakeMachine({ cores: 2 }));
		const { findings, ...rest } = JSON.parse(world.out());
		expect(rest).toMatchObject({ schema: 1, verdict: "warn" });
		expect(findings).toContainEqual(
			expect.objectContaining({ check: "cores", verdict: "warn", figure: "2 cores" }),
		);
	});

	test("says whether target aws has what it needs; without it nothing is bad", async () => {
		const install = "npm ci --prefix '/opt/a long way down to the packages of mqbench/infra/aws'";
		const text = async (...missing: string[]) => {
			const world = fakeWorld();
			const aws = async () => ({ missing, install });
			expect(await doctor({}, world, fakeMachine({ aws }))).toBe(0);
			return world.out();
		};
		expect(await text()).toContain("ok       AWS: SDK and Pulumi's packages are installed.");
		// To be copied, so never wrapped.
		expect(await text("@pulumi/aws")).toContain(`Remedy: ${install}\n`);
	});

	test("packages of another version are as good as none", async () => {
		const folder = testFolder();
		const write = (file: string, value: unknown) => {
			const there = path.join(folder, file);
			mkdirSync(path.dirname(there), { recursive: true });
			writeFileSync(there, JSON.stringify(value));
		};
		write("package.json", { dependencies: { "@x/a": "1.0.0", b: "2.0.0" } });
		expect((await awsParts(folder)).missing).toEqual(["@x/a", "b"]);
		write("node_modules/@x/a/package.json", { version: "1.0.0" });
		write("node_modules/b/package.json", { version: "2.0.1" });
		expect((await awsParts(folder)).missing).toEqual(["b"]);
	});

	test("Ctrl-C ends it", async () => {
		const world = fakeWorld({ stop: AbortSignal.abort("SIGINT") });
		await expect(doctor({}, world, fakeMachine())).rejects.toMatchObject({ code: "interrupted" });
	});

	test("looks at this machine too", async () => {
		const world = fakeWorld({ cwd: process.cwd(), env: process.env });
		const machine = thisMachine(world);
		expect(machine.cores).toBeGreaterThan(0);
		expect((await machine.wakeUp()).length).toBeGreaterThan(0);
		expect(await machine.freeBytes("/not/here/yet")).toBeGreaterThan(0);
		expect(await machine.read("/not/here")).toBeNull();
		expect(await machine.run("mqbench-is-no-such-program")).toBeNull();
		expect((await machine.aws()).install).toMatch(/infra.aws$/);
		expect(await machine.which("mqbench-is-no-such-program")).toBeNull();
	});
});
