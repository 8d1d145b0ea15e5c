import { expect, test, vi } from "vitest";
import { addressesOf } from "./outputs.ts";
import { SMALL, standUp, WIDE } from "./pulumi.fake.ts";
import { refusal } from "./refusal.ts";

test("machines come after the way out of their network, which their set-up needs, and go before it", async () => {
	const { machines } = await standUp(WIDE);
	expect(machines()).toHaveLength(5);
	for (const { name, after } of machines())
		expect(after, name).toEqual(
			expect.arrayContaining(
				["association", "gateway", "routes"].map((one) => `mqbench-wide-${one}`),
			),
		);
});

test("machines without a hypervisor get their time to start and to end, in rig.json until SSH, too; no others do", async () => {
	const { machines, output } = await standUp({
		...SMALL,
		brokers: { ...SMALL.brokers, instance: "i4i.metal" },
	});
	expect(machines("broker")[0]?.limits).toEqual(["40m", "60m"]);
	expect(machines("client")[0]?.limits).toEqual(["", ""]);
	expect(output.brokers[0]?.hosts[0]?.bootMinutes).toBe(25);
	expect(output.clients[0]?.bootMinutes).toBeUndefined();
});

test("a configuration that is wrong or missing is told in sentences without a stack, and nothing is made", async () => {
	const { runtime } = await import("@pulumi/pulumi");
	const wrong = { ...SMALL, callerCidr: "0.0.0.0/0", ttlMinutes: 5 };
	runtime.setAllConfig({ "mqbench:rig": JSON.stringify(wrong) });
	await expect(import("./index.ts")).rejects.toMatchObject({
		message:
			'mqbench:rig: ttlMinutes must be at least 10, got 5\nmqbench:rig: callerCidr must be one address, such as 203.0.113.7/32, got "0.0.0.0/0"',
		stack: "",
	});
	runtime.setAllConfig({});
	vi.resetModules();
	await expect(import("./index.ts")).rejects.toMatchObject({
		message: "mqbench:rig is missing in the stack's configuration; README.md shows one",
		stack: "",
	});
});

test("what the program refuses has no stack, or Pulumi takes half a minute to print it", () => {
	expect(refusal("no").message).toBe("no");
	expect(refusal("no").stack).toBe("");
});

test("a machine without an address is told, as no rig.json could name it", () => {
	expect(() => addressesOf("machine 1 of type i4i.xlarge", "", "10.77.0.11")).toThrow(
		"AWS gave machine 1 of type i4i.xlarge no public address; take the rig down and stand it up again",
	);
});
