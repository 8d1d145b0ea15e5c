import { createHash } from "node:crypto";
import type { EnvironmentFile } from "../run/environment-file.ts";
import type { Machine } from "./comparison.ts";

/** The machine of a run, as far as it decides latencies; null: nobody wrote it down. */
export function machineOf(environment: EnvironmentFile | null): Machine | null {
	if (environment === null) return null;
	const { cpu, cores, os, cpuQuotaCores, memoryBytes, bootId } = environment;
	const facts = {
		cpu,
		cores,
		memoryGiB:
			memoryBytes === null ? null : Math.round(memoryBytes / 1024 ** 3),
		os,
		// A patch of the kernel is no other machine; a new series may schedule otherwise.
		kernel: /^\d+\.\d+/.exec(environment.kernel)?.[0] ?? environment.kernel,
		cpuQuotaCores,
	};
	const { rented } = environment;
	if (rented === undefined)
		return { fingerprint: hashOf(facts), ...facts, boot: bootId };
	const { rig, machines } = rented;
	return {
		fingerprint: hashOf({ rented: machines }),
		...facts,
		rented: machines,
		// Other machines of the same types are as another start of this one.
		boot: rig === null ? null : hashOf({ rig }),
	};
}

/** Names what two machines differ in: "cpu Example A against Example B, 2 cores against 4"; null: nothing. */
export function machineDifference(a: Machine, b: Machine): string | null {
	if (a.rented !== undefined || b.rented !== undefined)
		return a.rented === b.rented
			? null
			: `${a.rented ?? "machines that are not rented"} against ${b.rented ?? "machines that are not rented"}`;
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
	const found = names
		.filter(([name]) => a[name] !== b[name])
		.map(([name, word]) => `${word} ${text(name, a)} against ${text(name, b)}`);
	return found.length === 0 ? null : found.join(", ");
}

/** 16 hexadecimal digits that stand for a plain value. */
export function hashOf(value: unknown): string {
	return createHash("sha256")
		.update(JSON.stringify(value))
		.digest("hex")
		.slice(0, 16);
}
