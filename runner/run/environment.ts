import { readFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import type { EnvironmentFile, GitCommit } from "../model/environment-file.ts";
import type { HostSettings, MachineSettings } from "../model/machine-settings.ts";
import { packageVersion } from "../package.ts";
import { sha256 } from "../sha256.ts";
import { type Asked, rigMachines } from "./rig-machines.ts";

interface Known {
	readonly k6: string;
	readonly go: string | null;
	readonly origin: string;
	readonly scenario: Asked;
	readonly git: GitCommit | null;
	readonly settings: MachineSettings;
}

/** Describes the machines that the numbers belong to. Whatever cannot be read is null, never a guess. */
export function readEnvironment(startedAt: string, known: Partial<Known> = {}): EnvironmentFile {
	const { k6 = "unknown", go = null, origin, scenario, git = null, settings } = known;
	const rig = scenario ? rigMachines(scenario) : null;
	return {
		schema: 1,
		mqbench: packageVersion,
		startedAt,
		os: osName(),
		kernel: os.release(),
		cpu: os.cpus()[0]?.model.trim() || null,
		cores: os.availableParallelism(),
		memoryBytes: os.totalmem(),
		clockSource: read("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
		governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
		cpuQuotaCores: cpuQuota(),
		bootId: bootId(),
		...(git === null ? {} : { git }),
		...(settings === undefined ? {} : { settings }),
		...(rig === null ? {} : { rig }),
		node: process.version,
		k6,
		go,
		...(origin === undefined ? {} : { programs: origin }),
		systems: {},
	};
}

export function resumedEnvironment(
	before: EnvironmentFile | null,
	now: EnvironmentFile,
): EnvironmentFile {
	if (before === null) return now;
	const { startedAt, node, go, bootId, git } = now;
	const command = { startedAt, node, go, bootId, ...(git ? { git } : {}) };
	return { ...before, resumed: [...(before.resumed ?? []), command] };
}

export function withHosts(environment: EnvironmentFile, found: readonly HostSettings[]) {
	if (found.length === 0) return environment;
	const key = ({ name, role }: HostSettings) => `${role} ${name}`;
	const hosts = new Map([...(environment.hosts ?? []), ...found].map((one) => [key(one), one]));
	return { ...environment, hosts: [...hosts.values()] };
}

// --- internal ---

function osName(): string {
	const release = read("/etc/os-release") ?? "";
	const [, name = os.type()] = /^PRETTY_NAME="?([^"\n]*)/m.exec(release) ?? [];
	return `${name} ${os.arch()}`;
}

/** Cores that the control group of this process allows (cgroup v2, then v1), or null without a limit. */
export function cpuQuota(readText = read): number | null {
	const written = cpuGroupFile("cpu.max", readText)?.split(" ") ?? [
		cpuGroupFile("cpu.cfs_quota_us", readText),
		cpuGroupFile("cpu.cfs_period_us", readText),
	];
	const [quota = 0, period = 0] = written.map(Number);
	return quota > 0 && period > 0 ? quota / period : null;
}

/** The kernel's boot ID. Hashed, because reports are shared and a hash is enough to distinguish starts. */
function bootId(): string | null {
	const id = read("/proc/sys/kernel/random/boot_id");
	return id === null ? null : sha256(id).slice(0, 16);
}

function read(file: string): string | null {
	try {
		return readFileSync(file, "utf8").trim();
	} catch {
		return null;
	}
}

/** A file of this process's CPU control group (v2 or v1), or of the root group, because in a container the path leads outside. */
function cpuGroupFile(name: string, readText: typeof read): string | null {
	const groups = readText("/proc/self/cgroup") ?? "";
	const own = /^0::(.*)$/m.exec(groups)?.[1] ?? "/";
	const ownV1 = /^\d+:[^:]*\bcpu\b[^:]*:(.*)$/m.exec(groups)?.[1] ?? "/";
	for (const folder of [own, "/", `/cpu${ownV1}`, "/cpu"]) {
		const text = readText(path.join("/sys/fs/cgroup", folder, name));
		if (text !== null) return text;
	}
	return null;
}
