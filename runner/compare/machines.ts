import type { Machine } from "../model/comparison.ts";
import type { EnvironmentFile } from "../model/environment-file.ts";
import type { Entry } from "../result/indexed.ts";
import { plural } from "../units.ts";
import { machineOf } from "./same-machine.ts";

/** A kind of machine that results of the index were made on. */
export interface KnownMachine {
	/** "A", "B", ... "Z", "AA": the oldest result's first, so that a letter stays as results are added. */
	readonly letter: string;
	/** "linux x64, kernel 6.1, 4 cores, 16 GiB, Example CPU" */
	readonly text: string;
}

/**
 * The machine of each result, by its folder. Machines are told apart by CPU, cores, memory, system, kernel series and quota, those of a rig by its
 * machines: two of one kind are one machine here. Left out: nobody wrote down what the result was made on.
 */
export function machinesOf(entries: readonly Entry[]): ReadonlyMap<string, KnownMachine> {
	const known = new Map<string, KnownMachine>();
	const machines = new Map<string, KnownMachine>();
	for (const { folder, result } of [...entries].reverse()) {
		const machine = machineOf(result?.environment ?? null);
		if (machine === null) continue;
		const text = textOf(machine, result?.environment ?? null);
		const machineName = known.get(machine.fingerprint) ?? { letter: letterOf(known.size), text };
		known.set(machine.fingerprint, machineName);
		machines.set(folder, machineName);
	}
	return machines;
}

// --- internal ---

function textOf(machine: Machine, environment: EnvironmentFile | null): string {
	const rig = environment?.rig ?? null;
	if (rig === null) return ownText(machine);
	return `${rig.machines}${rig.cloud === null ? "" : ", rented"}${rig.here ? `, with the load from ${ownText(machine)}` : ""}`;
}

function ownText(machine: Machine): string {
	return [
		`${machine.os}, kernel ${machine.kernel}`,
		plural(machine.cores, "core"),
		machine.cpuQuotaCores === null ? "" : `limited to ${machine.cpuQuotaCores}`,
		machine.memoryGiB === null ? "" : `${machine.memoryGiB} GiB`,
		machine.cpu ?? "",
	]
		.filter((part) => part !== "")
		.join(", ");
}

function letterOf(index: number): string {
	const last = String.fromCharCode(65 + (index % 26));
	return index < 26 ? last : letterOf(Math.floor(index / 26) - 1) + last;
}
