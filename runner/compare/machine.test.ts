import { expect, test } from "vitest";
import type { EnvironmentFile } from "../run/environment-file.ts";
import { machineDifference, machineOf } from "./machine.ts";

const ENVIRONMENT: EnvironmentFile = {
	schema: 1,
	mqbench: "0.1.0",
	startedAt: "2026-01-02T03:04:05.000Z",
	os: "Example Linux 1 x64",
	kernel: "6.1.0-18-amd64",
	cpu: "Example CPU",
	cores: 4,
	memoryBytes: 8_123_456_789,
	clockSource: "tsc",
	governor: null,
	cpuQuotaCores: null,
	bootId: "0123456789abcdef",
	node: "v20.0.0",
	k6: "v2.1.0",
	go: null,
	systems: {},
};
const machine = (change: Partial<EnvironmentFile> = {}) => {
	const found = machineOf({ ...ENVIRONMENT, ...change });
	if (found === null) throw new Error("no machine");
	return found;
};

test("a machine is its CPU, cores, memory, system, kernel series and limit", () => {
	expect(machine()).toMatchObject({
		cpu: "Example CPU",
		cores: 4,
		memoryGiB: 8,
		os: "Example Linux 1 x64",
		kernel: "6.1",
		cpuQuotaCores: null,
		boot: "0123456789abcdef",
	});
});

test.each<[string, Partial<EnvironmentFile>]>([
	["another start", { bootId: "ffffffffffffffff" }],
	["a patch of the kernel", { kernel: "6.1.99" }],
	["a few MB of memory", { memoryBytes: 8_100_000_000 }],
	["another Node.js", { node: "v22.0.0" }],
	["another mqbench", { mqbench: "0.2.0", k6: "v2.2.0" }],
])("%s is the same machine", (_, change) => {
	expect(machine(change).fingerprint).toBe(machine().fingerprint);
	expect(machineDifference(machine(), machine(change))).toBeNull();
});

test.each<[string, Partial<EnvironmentFile>]>([
	["CPU Example CPU against Other CPU", { cpu: "Other CPU" }],
	["CPU Example CPU against unknown", { cpu: null }],
	["cores 4 against 2", { cores: 2 }],
	["GiB of memory 8 against 16", { memoryBytes: 16 * 1024 ** 3 }],
	["kernel 6.1 against 6.2", { kernel: "6.2.0" }],
	["limit of cores none against 1.5", { cpuQuotaCores: 1.5 }],
])("another machine, and how: %s", (words, change) => {
	expect(machine(change).fingerprint).not.toBe(machine().fingerprint);
	expect(machineDifference(machine(), machine(change))).toBe(words);
});

test("without an environment nobody knows the machine", () => {
	expect(machineOf(null)).toBeNull();
});

const rented = (rig: string, machines = "3 i4i.xlarge (aws eu-central-1)") => ({
	rented: { rig, machines },
});

test("rented machines are told apart by their types, wherever mqbench ran", () => {
	const one = machine(rented("a"));
	const elsewhere = machine({ ...rented("b"), cpu: "Other CPU", cores: 16 });
	expect(one.fingerprint).toBe(elsewhere.fingerprint);
	expect(machineDifference(one, elsewhere)).toBeNull();
	// Others of the same types, as another start of a machine would be.
	expect(one.boot).not.toBe(elsewhere.boot);
	expect(one.boot).toBe(machine(rented("a")).boot);

	const larger = machine(rented("c", "3 i4i.2xlarge (aws eu-central-1)"));
	expect(larger.fingerprint).not.toBe(one.fingerprint);
	expect(machineDifference(one, larger)).toBe(
		"3 i4i.xlarge (aws eu-central-1) against 3 i4i.2xlarge (aws eu-central-1)",
	);
	expect(machineDifference(one, machine())).toBe(
		"3 i4i.xlarge (aws eu-central-1) against machines that are not rented",
	);
	expect(one.fingerprint).not.toBe(machine().fingerprint);
});
