import type { EnvironmentFile } from "../model/environment-file.ts";
import { settingTexts } from "../model/machine-settings.ts";
import type { Result, Run } from "../model/result.ts";
import { commitsOf, commitText } from "../result/commit.ts";
import { formatBytes, formatCount, formatDuration, formatDurationExact } from "../units.ts";
import { type Block, type Table, text } from "./blocks.ts";
import { facts } from "./facts.ts";

/** What a run ran with, beside its load and what stands with its system. */
export function runFacts({ load, generator, ...run }: Run): Table {
	const { pacer } = generator ?? {};
	return facts([
		["broker", run.brokerUrl],
		["started", run.startedAt],
		["payload", load.payload],
		[
			"producers",
			`${load.producers} on ${load.connections} connections, ${load.topics} topics${load.partitions > 1 ? ` of ${load.partitions} partitions` : ""}`,
		],
		["generator on CPUs", load.pin.generator],
		["brokers on CPUs", load.pin.brokers],
		[
			"timeout, drain",
			`${formatDurationExact(load.timeoutNs)}, ${formatDurationExact(load.drainNs)}`,
		],
		[
			"generator",
			generator &&
				`${formatDuration(generator.cpuNs)} of CPU in ${formatDuration(generator.endNs)}; ${formatCount(generator.gcCycles)} garbage collections, ${formatDuration(generator.gcPauseNs)} stopped`,
		],
		[
			"pacer",
			pacer
				? `${pacer.timer}, wakes ${formatDuration(pacer.leadNs)} ahead, spins ${formatDuration(pacer.spinNs)}${pacer.napNs > 0 ? `, sleeps at least ${formatDuration(pacer.napNs)}` : ""}`
				: null,
		],
		["raw data", run.folder],
	]);
}

/** The machine and the versions. */
export function environment({ environment: e, runId }: Result): Block {
	if (e === null) return text("nothing was written down about the machine");
	return facts([
		["run", runId],
		...rigRows(e),
		["system", `${e.os}, kernel ${e.kernel}`],
		["CPU", e.cpu],
		["cores", `${e.cores}${e.cpuQuotaCores === null ? "" : `, limited to ${e.cpuQuotaCores}`}`],
		["memory", e.memoryBytes === null ? null : formatBytes(e.memoryBytes)],
		["clock source", e.clockSource ?? UNREADABLE],
		["CPU governor", e.governor ?? UNREADABLE],
		...settingRows(e),
		[
			"versions",
			`mqbench ${e.mqbench}, k6 ${e.k6}, Node ${e.node}${e.go === null ? "" : `, ${e.go}`}${e.programs === undefined ? "" : `; load generator ${e.programs}`}`,
		],
		["commit of the scenario", commitsOf(e).map(commitText).join("; ")],
	]);
}

// --- internal ---

const UNREADABLE = "unreadable";

/** C-states, SMT and interrupt moderation of this machine, and all settings of each host. */
function settingRows({ settings, hosts = [] }: EnvironmentFile): [string, string][] {
	const own = Object.entries(settings ? settingTexts(settings) : {})
		.filter(([name]) => name !== "CPU governor")
		.map(([name, text]): [string, string] => [name, text ?? UNREADABLE]);
	const others = hosts.map(({ name, role, settings }): [string, string] => [
		`${name}, ${role}`,
		Object.entries(settingTexts(settings))
			.map(([setting, text]) => `${setting}: ${text ?? UNREADABLE}`)
			.join("; "),
	]);
	return [...own, ...others];
}

function rigRows({ rig }: EnvironmentFile): [string, string][] {
	if (rig == null) return [];
	const { cloud, machines, id, here, createdAt, facts } = rig;
	const made = `${id === null ? "" : `, rig ${id}`}${createdAt === null ? "" : ` of ${createdAt}`}`;
	return [
		[
			cloud === null ? "hosts" : "rented machines",
			`${machines}${made}; mqbench itself${here ? " and the load" : ""} ran on what follows`,
		],
		...Object.entries(facts).map(([name, value]): [string, string] => [`rig: ${name}`, value]),
	];
}
