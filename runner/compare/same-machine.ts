import { createHash } from "node:crypto";
import type { Machine } from "../model/comparison.ts";
import type { EnvironmentFile, RigMachines } from "../model/environment-file.ts";
import { type MachineSettings, settingTexts } from "../model/machine-settings.ts";

/** The machine of a run, as far as it decides latencies; null: nobody wrote it down. */
export function machineOf(environment: EnvironmentFile | null): Machine | null {
	if (environment === null) return null;
	const { cpu, cores, os, cpuQuotaCores, memoryBytes, bootId } = environment;
	// Runs of several starts of the machine are of none.
	const oneStart = (environment.resumed ?? []).every((later) => later.bootId === bootId);
	const facts = {
		cpu,
		cores,
		memoryGiB: memoryBytes === null ? null : Math.round(memoryBytes / 1024 ** 3),
		os,
		// A patch of the kernel is no other machine; a new series may schedule otherwise.
		kernel: /^\d+\.\d+/.exec(environment.kernel)?.[0] ?? environment.kernel,
		cpuQuotaCores,
	};
	const rig = environment.rig ?? null;
	if (rig === null)
		return {
			fingerprint: hashOf(facts),
			...facts,
			...settingsOf(environment),
			boot: oneStart ? bootId : null,
		};
	const { machines, here } = rig;
	return {
		// What mqbench runs on makes the load, or only tells others to.
		fingerprint: hashOf(here ? { rig: machines, ...facts } : { rig: machines }),
		...facts,
		rig: machines,
		...settingsOf(environment),
		boot: bootOf(rig),
	};
}

/** Names what two machines differ in: "cpu Example A against Example B, 2 cores against 4"; null: nothing. */
export function machineDifference(a: Machine, b: Machine): string | null {
	const [one, other] = [a, b].map((m) => m.rig);
	if (one !== other) return `${one ?? "no rig"} against ${other ?? "no rig"}`;
	const settings = settingsDifference(a, b);
	// What mqbench itself ran on decides nothing where others made the load.
	if (one !== undefined && a.fingerprint === b.fingerprint)
		return settings.length === 0 ? null : settings.join(", ");
	const text = (name: keyof Machine, of: Machine) => {
		const value = of[name];
		if (value === null) return name === "cpuQuotaCores" ? "none" : "unknown";
		return String(value);
	};
	const names: readonly (readonly [keyof Machine, string])[] = [
		["cpu", "CPU"],
		["cores", "cores"],
		["memoryGiB", "GiB of memory"],
		["os", "system"],
		["kernel", "kernel"],
		["cpuQuotaCores", "limit of cores"],
	];
	const differences = names
		.filter(([name]) => a[name] !== b[name])
		.map(([name, word]) => `${word} ${text(name, a)} against ${text(name, b)}`)
		.concat(settings);
	return differences.length === 0 ? null : differences.join(", ");
}

/** 16 hexadecimal digits that stand for a plain value. */
export function hashOf(value: unknown): string {
	return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
}

// --- internal ---

/** Of the machines that count, by role where they are not mqbench's own: "brokers' SMT": "off". */
function settingsOf({ settings, hosts = [], rig }: EnvironmentFile): {
	settings?: Record<string, string>;
} {
	const groups = new Map<string, MachineSettings[]>();
	const add = (of: string, one: MachineSettings) =>
		groups.set(of, [...(groups.get(of) ?? []), one]);
	if (settings !== undefined && (rig?.here ?? true)) add("", settings);
	for (const host of hosts) add(host.role === "load" ? "the load's " : "brokers' ", host.settings);
	const found = [...groups].flatMap(([of, all]) =>
		Object.keys(settingTexts(all[0] as MachineSettings)).flatMap((name) => {
			const texts = all.map((one) => settingTexts(one)[name] ?? null);
			return texts.includes(null) ? [] : [[`${of}${name}`, [...new Set(texts)].sort().join("; ")]];
		}),
	);
	return found.length === 0 ? {} : { settings: Object.fromEntries(found) };
}

/** What only one side knows is no difference. */
function settingsDifference(a: Machine, b: Machine): string[] {
	return Object.entries(a.settings ?? {}).flatMap(([name, text]) => {
		const other = b.settings?.[name];
		return other === undefined || other === text ? [] : [`${name} ${text} against ${other}`];
	});
}

/**
 * Rented machines are started once: when they were, and their addresses, stand for that; others of the same types are as another start. null: not
 * known. Of hosts of yours nobody has told when they were started.
 */
function bootOf({ id, createdAt, cloud, brokers, clients }: RigMachines): string | null {
	if (id === null || cloud === null) return null;
	return hashOf({ rig: id, createdAt, brokers, clients });
}
