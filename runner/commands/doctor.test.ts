import { describe, expect, test } from "vitest";
import { fakeMachine } from "../doctor/machine.fake.ts";
import { thisMachine } from "../doctor/this-machine.ts";
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
		expect(await machine.which("mqbench-is-no-such-program")).toBeNull();
	});
});
