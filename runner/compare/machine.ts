import { createHash } from "node:crypto";
import { grouped } from "../grouped.ts";
import type { Machine } from "../model/comparison.ts";
import type { EnvironmentFile, RigMachines } from "../model/environment-file.ts";
import { type MachineSettings, settingTexts } from "../model/machine-settings.ts";
import type { Entry } from "../result/indexed.ts";
import { plural } from "../units.ts";
import { against, differencesIn } from "./work.ts";

type Fact = readonly [name: string, of: (machine: Machine) => string | number | null];

/** What decides latencies of the machine that mqbench runs on. */
const OWN: readonly Fact[] = [
	["CPU", ({ cpu }) => cpu],
	["cores", ({ cores }) => cores],
	["memory", ({ memoryGiB }) => memoryGiB && `${memoryGiB} GiB`],
	["system", ({ os }) => os],
	["kernel", ({ kernel }) => kernel],
	["limit of cores", ({ cpuQuotaCores }) => cpuQuotaCores ?? "none"],
];

/** All that is told of a machine. */
export const MACHINE: readonly Fact[] = [
	...OWN,
	["machines of the rig", ({ rig }) => rig ?? "none"],
	["start of the machine", ({ boot }) => boot],
];

/** The machine of a run, as far as it decides latencies; null: nobody wrote it down. */
export function machineOf(environment: EnvironmentFile | null): Machine | null {
	if (environment === null) return null;
	const { cpu, cores, os, cpuQuotaCores, memoryBytes, bootId, rig, resumed = [] } = environment;
	const facts = {
		cpu,
		cores,
		memoryGiB: memoryBytes === null ? null : Math.round(memoryBytes / 1024 ** 3),
		os,
		// A patch of the kernel is no other machine; a new series may schedule otherwise.
		kernel: /^\d+\.\d+/.exec(environment.kernel)?.[0] ?? environment.kernel,
		cpuQuotaCores,
	};
	// What mqbench runs on makes the load, or only tells others to.
	const counting = rig && { rig: rig.machines, ...(rig.here ? facts : {}) };
	// Runs of several starts of the machine are of none.
	const oneStart = resumed.every((later) => later.bootId === bootId);
	return {
		fingerprint: hashOf(counting ?? facts),
		...facts,
		...(rig && { rig: rig.machines }),
		...settingsOf(environment),
		boot: rig ? bootOf(rig) : oneStart ? bootId : null,
	};
}

/** Names what two machines differ in: "CPU Example A against Example B, cores 2 against 4"; null: nothing. */
export function machineDifference(a: Machine, b: Machine): string | null {
	if (a.rig !== b.rig) return `${a.rig ?? "no rig"} against ${b.rig ?? "no rig"}`;
	// What mqbench itself ran on decides nothing where others made the load.
	const sameRig = a.rig !== undefined && a.fingerprint === b.fingerprint;
	const own = sameRig ? [] : OWN.map(([name, of]) => [name, of(a), of(b)] as const);
	// What only one side knows is no difference.
	const settings = Object.entries(a.settings ?? {}).map(
		([name, text]) => [name, text, b.settings?.[name] ?? text] as const,
	);
	return against(differencesIn([...own, ...settings]));
}

/** "Example Linux 1 x64, kernel 6.1, 2 cores, 8 GiB, Example CPU"; of a rig its machines, and where mqbench ran if that counts. */
export function machineText(machine: Machine | null, here = true): string {
	if (machine === null) return "an unknown machine";
	const { cores, cpu, memoryGiB, os, kernel, cpuQuotaCores, rig } = machine;
	const own = [
		os,
		`kernel ${kernel}`,
		plural(cores, "core"),
		cpuQuotaCores === null ? null : `limited to ${cpuQuotaCores}`,
		memoryGiB === null ? null : `${memoryGiB} GiB`,
		cpu,
	]
		.filter((part) => part !== null)
		.join(", ");
	if (rig === undefined) return own;
	return here ? `${rig}, with mqbench on ${own}` : rig;
}

/** A kind of machine that results of the index were made on. */
export interface KnownMachine {
	/** "A", "B", ... "Z", "27": the oldest result's first, so that a letter stays as results are added. */
	readonly letter: string;
	readonly text: string;
}

/**
 * The machine of each result, by its folder. Machines are told apart by CPU, cores, memory, system, kernel series and quota, those of a rig by its
 * machines: two of one kind are one machine here. Left out: nobody wrote down what the result was made on.
 */
export function machinesOf(entries: readonly Entry[]): ReadonlyMap<string, KnownMachine> {
	const kinds = new Map<string, KnownMachine>();
	const machines = new Map<string, KnownMachine>();
	for (const { folder, result } of [...entries].reverse()) {
		const machine = machineOf(result?.environment ?? null);
		if (machine === null) continue;
		const { fingerprint } = machine;
		const text = machineText(machine, result?.environment?.rig?.here);
		const kind = kinds.get(fingerprint) ?? { letter: letterOf(kinds.size), text };
		kinds.set(fingerprint, kind);
		machines.set(folder, kind);
	}
	return machines;
}

/** 16 hexadecimal digits that stand for a plain value. */
export function hashOf(value: unknown): string {
	return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
}

// --- internal ---

/** Of the machines that count, by role where they are not mqbench's own: "brokers' SMT": "off", of several "off; on". */
function settingsOf({ settings, hosts = [], rig }: EnvironmentFile): Pick<Machine, "settings"> {
	const texts = (whose: string, of: MachineSettings) =>
		Object.entries(settingTexts(of)).flatMap(([name, text]) =>
			text === null ? [] : [[`${whose}${name}`, text] as const],
		);
	const all = [
		...(settings !== undefined && (rig?.here ?? true) ? texts("", settings) : []),
		...hosts.flatMap((host) =>
			texts(host.role === "brokers" ? "brokers' " : "the load's ", host.settings),
		),
	];
	if (all.length === 0) return {};
	const found = [...grouped(all, ([name]) => name)].map(([name, values]) => {
		const different = new Set(values.map(([, text]) => text));
		return [name, [...different].sort().join("; ")];
	});
	return { settings: Object.fromEntries(found) };
}

/**
 * Rented machines are started once: when they were, and their addresses, stand for that; others of the same types are as another start. null: not
 * known. Of hosts of yours nobody has told when they were started.
 */
function bootOf({ id, createdAt, cloud, brokers, clients }: RigMachines): string | null {
	if (id === null || cloud === null) return null;
	return hashOf({ rig: id, createdAt, brokers, clients });
}

function letterOf(index: number): string {
	return index < 26 ? String.fromCharCode(65 + index) : `${index + 1}`;
}
