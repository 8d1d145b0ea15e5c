import { expect, test } from "vitest";
import type { EnvironmentFile, RigMachines } from "../model/environment-file.ts";
import { machineDifference, machineOf, machineText } from "./machine.ts";

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

test("a machine is its CPU, cores, memory, system, kernel series and limit; of no environment nobody knows it", () => {
	expect(machine()).toMatchObject({
		...{ cpu: "Example CPU", cores: 4, memoryGiB: 8, os: "Example Linux 1 x64", kernel: "6.1" },
		...{ cpuQuotaCores: null, boot: "0123456789abcdef" },
	});
	expect(machineOf(null)).toBeNull();
});

test.each<[difference: string | null, Partial<EnvironmentFile>]>([
	[null, { bootId: "ffffffffffffffff" }],
	[null, { kernel: "6.1.99" }],
	[null, { memoryBytes: 8_100_000_000 }],
	[null, { node: "v22.0.0", mqbench: "0.2.0", k6: "v2.2.0" }],
	["CPU Example CPU against Other CPU", { cpu: "Other CPU" }],
	["CPU Example CPU against not known", { cpu: null }],
	["cores 4 against 2", { cores: 2 }],
	["memory 8 GiB against 16 GiB", { memoryBytes: 16 * 1024 ** 3 }],
	["kernel 6.1 against 6.2", { kernel: "6.2.0" }],
	["limit of cores none against 1.5", { cpuQuotaCores: 1.5 }],
])("another machine, and how: %s %j", (difference, change) => {
	expect(machine(change).fingerprint === machine().fingerprint).toBe(difference === null);
	expect(machineDifference(machine(), machine(change))).toBe(difference);
});

const TYPES = "3 i4i.xlarge for brokers (aws eu-central-1)";
const rig = (change: Partial<RigMachines> = {}) => ({
	rig: {
		id: "a",
		createdAt: null,
		cloud: "aws eu-central-1",
		facts: {},
		machines: TYPES,
		brokers: ["b1"],
		clients: ["c1"],
		here: false,
		...change,
	},
});
const OTHER = { cpu: "Other CPU", cores: 16 };

test("rented machines are told apart by their types, wherever mqbench ran", () => {
	const one = machine(rig());
	const elsewhere = machine({ ...rig(), ...OTHER });
	expect(one.fingerprint).toBe(elsewhere.fingerprint);
	expect(machineDifference(one, elsewhere)).toBeNull();
	expect(one.boot).toBe(elsewhere.boot);

	const larger = machine(rig({ machines: TYPES.replace("xlarge", "2xlarge") }));
	expect(larger.fingerprint).not.toBe(one.fingerprint);
	expect(machineDifference(one, larger)).toBe(
		"3 i4i.xlarge for brokers (aws eu-central-1) against 3 i4i.2xlarge for brokers (aws eu-central-1)",
	);
	expect(machineDifference(one, machine())).toBe(`${TYPES} against no rig`);
	expect(one.fingerprint).not.toBe(machine().fingerprint);
});

test.each<[string, Partial<RigMachines>]>([
	["of another rig", { id: "b" }],
	["stood up again by the same name", { createdAt: "2026-01-02T03:04:05Z" }],
	["at other addresses", { brokers: ["b9"] }],
])("rented machines of the same types %s are as another start", (_, change) => {
	const [one, other] = [machine(rig()), machine(rig(change))];
	expect(one.boot).toMatch(/^[0-9a-f]{16}$/);
	expect(other.boot).not.toBe(one.boot);
	expect(other.fingerprint).toBe(one.fingerprint);
});

test("where the load comes from the machine of mqbench, that counts as well", () => {
	const here = { cloud: null, machines: "host b1 for brokers", here: true };
	const [one, other] = [machine(rig(here)), machine({ ...rig(here), ...OTHER })];
	expect(one.fingerprint).not.toBe(other.fingerprint);
	expect(machineDifference(one, other)).toBe(
		"CPU Example CPU against Other CPU, cores 4 against 16",
	);
});

test("is told in a line", () => {
	const own = "Example Linux 1 x64, kernel 6.1, 4 cores, 8 GiB, Example CPU";
	expect(machineText(machine())).toBe(own);
	expect(machineText(machine({ cpu: null, memoryBytes: null, cpuQuotaCores: 1.5 }))).toBe(
		"Example Linux 1 x64, kernel 6.1, 4 cores, limited to 1.5",
	);
	expect(machineText(machine(rig()))).toBe(`${TYPES}, with mqbench on ${own}`);
	expect(machineText(machine(rig()), false)).toBe(TYPES);
	expect(machineText(null)).toBe("an unknown machine");
});

const SETTINGS = {
	idleDriver: "intel_idle",
	bootMaxCState: null,
	cStates: "POLL, C1",
	maxCState: 1,
	smt: "off",
	governor: "performance",
	interruptModeration: null,
};

test.each([
	["C-states POLL, C1 (intel_idle) against POLL, C1, C6 (intel_idle)", { cStates: "POLL, C1, C6" }],
	["SMT off against on", { smt: "on" }],
	["CPU governor performance against powersave", { governor: "powersave" }],
] as const)("set otherwise it is the same machine, and differs: %s", (words, change) => {
	const [one, other] = [
		machine({ settings: SETTINGS }),
		machine({ settings: { ...SETTINGS, ...change } }),
	];
	expect(other.fingerprint).toBe(one.fingerprint);
	expect(machineDifference(one, other)).toBe(words);
	// A setting that was not read, or cannot be, is not a difference.
	expect(machineDifference(one, machine())).toBeNull();
	const known = { ...SETTINGS, interruptModeration: "rx-usecs 0" };
	expect(machineDifference(one, machine({ settings: known }))).toBeNull();
});

test("of a rig the settings of its hosts count, by role, and those of this machine where it makes the load", () => {
	const host = (role: "brokers" | "load", name: string, smt = "off") => ({
		role,
		name,
		settings: { ...SETTINGS, smt },
	});
	const hosts = (smt: string) => [
		host("brokers", "b1"),
		host("brokers", "b2", smt),
		host("load", "c1"),
	];
	const of = (smt: string, here: boolean, own: string) =>
		machine({ ...rig({ here }), hosts: hosts(smt), settings: { ...SETTINGS, smt: own } });
	expect(of("off", false, "on").settings).toMatchObject({
		"brokers' SMT": "off",
		"the load's SMT": "off",
	});
	expect(machineDifference(of("off", false, "on"), of("on", false, "off"))).toBe(
		"brokers' SMT off against off; on",
	);
	expect(machineDifference(of("off", true, "on"), of("off", true, "off"))).toBe(
		"SMT on against off",
	);
});

test("runs of two starts of a machine are of no one start", () => {
	const resumed = (bootId: string) => [
		{ startedAt: "2026-01-03T10:00:00.000Z", bootId, node: "v20", go: null },
	];
	expect(machine({ resumed: resumed(ENVIRONMENT.bootId ?? "") }).boot).toBe(ENVIRONMENT.bootId);
	expect(machine({ resumed: resumed("b") }).boot).toBeNull();
});
