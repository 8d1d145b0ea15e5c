import { createHash } from "node:crypto";
import { grouped } from "../grouped.ts";
import type { Machine } from "../model/comparison.ts";
import type { EnvironmentFile, RigMachines } from "../model/environment-file.ts";
import { type MachineSettings, settingTexts } from "../model/machine-settings.ts";
import type { Entry } from "../result/indexed.ts";
import { plural } from "../units.ts";
import { against, differencesIn } from "./work.ts";

type Fact = readonly [name: string, of: (machine: Machine) => string | number | null];

/** Facts that decide latencies on the machine that runs mqbench. */
const OWN: readonly Fact[] = [
	["CPU", ({ cpu }) => cpu],
	["cores", ({ cores }) => cores],
	["memory", ({ memoryGiB }) => memoryGiB && `${memoryGiB} GiB`],
	["system", ({ os }) => os],
	["kernel", ({ kernel }) => kernel],
	["limit of cores", ({ cpuQuotaCores }) => cpuQuotaCores ?? "none"],
];

export const MACHINE: readonly Fact[] = [
	...OWN,
	["machines of the rig", ({ rig }) => rig ?? "none"],
	["start of the machine", ({ boot }) => boot],
];

export function machineOf(environment: EnvironmentFile | null): Machine | null {
	if (environment === null) return null;
	const { cpu, cores, os, cpuQuotaCores, memoryBytes, bootId, rig, resumed = [] } = environment;
	const facts = {
		cpu,
		cores,
		memoryGiB: memoryBytes === null ? null : Math.round(memoryBytes / 1024 ** 3),
		os,
		// A kernel patch does not make another machine; a new series may schedule otherwise.
		kernel: /^\d+\.\d+/.exec(environment.kernel)?.[0] ?? environment.kernel,
		cpuQuotaCores,
	};
	// With a rig, mqbench's own machine counts only if it makes the load.
	const counting = rig && { rig: rig.machines, ...(rig.here ? facts : {}) };
	// Runs from several starts of the machine belong to none.
	const oneStart = resumed.every((later) => later.bootId === bootId);
	return {
		fingerprint: hashOf(counting ?? facts),
		...facts,
		...(rig && { rig: rig.machines }),
		...settingsOf(environment),
		boot: rig ? bootOf(rig) : oneStart ? bootId : null,
	};
}

export function machineDifference(a: Machine, b: Machine): string | null {
	if (a.rig !== b.rig) return `${a.rig ?? "no rig"} against ${b.rig ?? "no rig"}`;
	// mqbench's own machine decides nothing if others made the load.
	const sameRig = a.rig !== undefined && a.fingerprint === b.fingerprint;
	const own = sameRig ? [] : OWN.map(([name, of]) => [name, of(a), of(b)] as const);
	// A setting that only one side has recorded is not a difference.
	const settings = Object.entries(a.settings ?? {}).map(
		([name, text]) => [name, text, b.settings?.[name] ?? text] as const,
	);
	return against(differencesIn([...own, ...settings]));
}

/** "Example Linux 1 x64, kernel 6.1, 2 cores, 8 GiB, Example CPU"; a rig's machines, and with `here` the one that mqbench ran on. */
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

export interface KnownMachine {
	/** "A", "B", ... "Z", "27": from the oldest result on, so a letter stays as results are added. */
	readonly letter: string;
	readonly text: string;
}

/** By folder. CPU, cores, memory, system, kernel series and quota make a kind, or a rig's machines. Unknown machines are left out. */
export function machinesOf(entries: readonly Entry[]): ReadonlyMap<string, KnownMachine> {
	const kinds = new Map<string, KnownMachine>();
	const machines = new Map<string, KnownMachine>();
	for (const { folder, result } of [...entries].reverse()) {
		const machine = machineOf(result?.environment ?? null);
		if (machine === null) continue;
		const { fingerprint } = machine;
		const text = machineText(machine, result?.environment?.rig?.here);
		const letter = kinds.size < 26 ? String.fromCharCode(65 + kinds.size) : `${kinds.size + 1}`;
		const kind = kinds.get(fingerprint) ?? { letter, text };
		kinds.set(fingerprint, kind);
		machines.set(folder, kind);
	}
	return machines;
}

export function hashOf(value: unknown): string {
	return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
}

// --- internal ---

/** Settings of the machines that count, prefixed by role, such as "brokers' SMT". The text is "off", or "off; on" for several. */
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
		return [name, [...new Set(values.map(([, text]) => text))].sort().join("; ")];
	});
	return { settings: Object.fromEntries(found) };
}

/** Rented machines start once, so rig, time and types identify the start. For your own hosts it is unknown. */
function bootOf({ id, createdAt, cloud, brokers, clients }: RigMachines): string | null {
	if (id === null || cloud === null) return null;
	return hashOf({ rig: id, createdAt, brokers, clients });
}
