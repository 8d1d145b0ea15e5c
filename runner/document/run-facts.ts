import type { EnvironmentFile } from "../model/environment-file.ts";
import { settingTexts } from "../model/machine-settings.ts";
import type { Result, Run } from "../model/result.ts";
import { rateText } from "../plan/load-text.ts";
import { commitsOf, commitText } from "../result/commit.ts";
import { consumersText } from "../result/words.ts";
import {
	formatBytes,
	formatBytesExact,
	formatCount,
	formatDuration,
	formatDurationExact,
} from "../units.ts";
import { orderUnit } from "../verdict/tally.ts";
import { type Block, text } from "./blocks.ts";
import { facts } from "./facts.ts";
import { ownSettings } from "./systems.ts";

/** What a run ran with; what all runs of its system share stands with the systems. */
export function runFacts(run: Run, result: Result): Block[] {
	const { load, generator } = run;
	return facts([
		["broker", run.brokerUrl],
		["started", run.startedAt],
		["load", rateText(load)],
		["message", `${formatBytesExact(load.messageBytes)}, ${load.payload}`],
		[
			"producers",
			`${load.producers} on ${load.connections} connections, ${load.topics} topics${load.partitions > 1 ? ` of ${load.partitions} partitions` : ""}`,
		],
		["consumers", consumersText(run)],
		["order", run.reordered === null ? null : `reordered counts ${orderUnit(load)}`],
		[
			"pinned to CPUs",
			[
				load.pin.generator && `generator ${load.pin.generator}`,
				load.pin.brokers && `brokers ${load.pin.brokers}`,
			]
				.filter((text) => text)
				.join(", "),
		],
		["in flight", load.inFlight === null ? "no limit" : `at most ${load.inFlight} per producer`],
		[
			"timeout, drain",
			`${formatDurationExact(load.timeoutNs)}, ${formatDurationExact(load.drainNs)}`,
		],
		["settings", ownSettings(run, result)],
		[
			"generator's CPU",
			generator && `${formatDuration(generator.cpuNs)} in ${formatDuration(generator.endNs)}`,
		],
		[
			"garbage collection",
			generator &&
				`${formatCount(generator.gcCycles)} cycles, ${formatDuration(generator.gcPauseNs)} stopped`,
		],
		[
			"pacer",
			generator?.pacer
				? `${generator.pacer.timer}, wakes ${formatDuration(generator.pacer.leadNs)} ahead, spins ${formatDuration(generator.pacer.spinNs)}${generator.pacer.napNs > 0 ? `, sleeps at least ${formatDuration(generator.pacer.napNs)}` : ""}`
				: null,
		],
		["raw data", run.folder],
	]);
}

/** The machine and the versions. */
export function environment({ environment: e, runId }: Result): Block[] {
	if (e === null) return [text("nothing was written down about the machine")];
	return facts([
		["run", runId],
		...rigRows(e),
		["system", `${e.os}, kernel ${e.kernel}`],
		["CPU", e.cpu],
		["cores", `${e.cores}${e.cpuQuotaCores === null ? "" : `, limited to ${e.cpuQuotaCores}`}`],
		["memory", e.memoryBytes === null ? null : formatBytes(e.memoryBytes)],
		["clock source", e.clockSource ?? "unreadable"],
		["CPU governor", e.governor ?? "unreadable"],
		...settingRows(e),
		[
			"versions",
			`mqbench ${e.mqbench}, k6 ${e.k6}, Node ${e.node}${e.go === null ? "" : `, ${e.go}`}${e.programs === undefined ? "" : `; load generator ${e.programs}`}`,
		],
		["commit of the scenario", commitsOf(e).map(commitText).join("; ")],
	]);
}

// --- internal ---

/** C-states, SMT and interrupt moderation of this machine, and all settings of hosts, those of one role together where they are the same. */
function settingRows({ settings, hosts = [] }: EnvironmentFile) {
	const rows = Object.entries(settings ? settingTexts(settings) : {})
		.filter(([name]) => name !== "CPU governor")
		.map(([name, text]): [string, string] => [name, text ?? "unreadable"]);
	const texts = new Map<string, string[]>();
	for (const { name, role, settings } of hosts) {
		const text = Object.entries(settingTexts(settings))
			.map(([name, value]) => `${name}: ${value ?? "unreadable"}`)
			.join("; ");
		const key = `${role}\n${text}`;
		texts.set(key, [...(texts.get(key) ?? []), name]);
	}
	for (const [key, names] of texts) {
		const [role, text = ""] = key.split("\n");
		const of = role === "load" ? "the load" : "brokers";
		rows.push([`hosts of ${of}: settings`, `${names.join(", ")}: ${text}`]);
	}
	return rows;
}

function rigRows(e: EnvironmentFile): [string, string][] {
	const rig = e.rig ?? null;
	if (rig === null) return [];
	const { cloud, machines, id, here, createdAt, facts } = rig;
	return [
		[
			cloud === null ? "hosts" : "rented machines",
			`${machines}${id === null ? "" : `, rig ${id}${createdAt === null ? "" : ` of ${createdAt}`}`}; mqbench itself${here ? " and the load" : ""} ran on what follows`,
		],
		...Object.entries(facts)
			.filter(([name]) => cloud === null || RENTED.includes(name))
			.map(([name, value]): [string, string] => [
				`${cloud === null ? "rig" : "rented"}: ${name}`,
				value,
			]),
	];
}

/** Facts of rented machines that are not in their name already. */
const RENTED: readonly string[] = ["zone", "ami", "placementGroup"];
