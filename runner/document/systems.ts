import type { EnvironmentFile } from "../model/environment-file.ts";
import { settingTexts } from "../model/machine-settings.ts";
import type { Result, Run } from "../model/result.ts";
import { commitsOf, commitText } from "../result/commit.ts";
import { topologyText } from "../result/words.ts";
import { formatBytes } from "../units.ts";
import * as doc from "./blocks.ts";

export function systems({ runs }: Result): doc.Fold[] {
	const names = systemsOf(runs);
	if (names.length === 0) return [];
	const title =
		names.length === 1 ? "The system, with its settings" : "The systems, with their settings";
	const blocks = names.flatMap((name) => [
		doc.heading(name),
		...settingsOf(runs.filter((run) => run.system === name)),
	]);
	return [doc.section("systems", title, blocks, { depth: 3 })];
}

/** Work of the drivers for each message, where systems differ: it affects the numbers as much as durability. */
export function differences({ runs }: Result): doc.Fold[] {
	const measured = runs.filter((run) => run.driverOptions !== null);
	const names = systemsOf(measured);
	const own = names.map((name) =>
		together(measured.filter((run) => run.system === name).map((run) => run.driverOptions ?? {})),
	);
	const items = EACH_MESSAGE.flatMap((key): doc.Inline[] => {
		const texts = own.map((options) => options[key] ?? UNSET);
		const different = [...new Set(texts)].map(
			(text) => `${text} (${names.filter((_, i) => texts[i] === text).join(", ")})`,
		);
		return texts.includes(UNSET) || different.length < 2
			? []
			: [[doc.code(key), `: ${different.join("; ")}`]];
	});
	const title = "What the systems' drivers do differently, per message";
	return items.length === 0 ? [] : [doc.section("differences", title, [doc.list(items)])];
}

/** Settings that every driver reports (xk6-mqbench/broker/broker.go, EachMessage). */
export const EACH_MESSAGE: readonly string[] =
	"confirm flush batching compression acknowledgeAlone acknowledgeInGroup prefetch".split(" ");

export function environment({ environment: e, runId }: Result): doc.Block {
	if (e === null) return doc.text("nothing was written down about the machine");
	return doc.facts([
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

const UNSET = "not set";
/** More are only counted: a port differs in each run. */
const MOST_VALUES = 3;

function systemsOf(runs: readonly Run[]): string[] {
	return [...new Set(runs.map((run) => run.system))];
}

/** "1 / 25", each value once. */
function each(values: readonly (string | null | undefined)[]): string {
	const all = [...new Set(values.filter((value) => value))];
	return all.length > MOST_VALUES ? `${all.length} values` : all.join(" / ");
}

function together(all: readonly Readonly<Record<string, string>>[]): Record<string, string> {
	const keys = [...new Set(all.flatMap((one) => Object.keys(one)))];
	return Object.fromEntries(keys.map((key) => [key, each(all.map((one) => one[key] ?? UNSET))]));
}

function settingsOf(runs: readonly Run[]): doc.Block[] {
	const of = (text: (run: Run) => string | null | undefined) => each(runs.map(text));
	const shown = doc.facts([
		["broker", of((run) => run.load.broker)],
		["version", of((run) => run.versions?.server || run.brokerVersion)],
		["durability", of((run) => run.load.durability)],
		["durability level", of((run) => run.load.durabilityLevel)],
		["topology", of(topologyText)],
		["replicas", of((run) => run.load.replicas?.toString())],
		["sends acknowledged", of((run) => (run.load.acks ? "yes" : "no"))],
		[
			"client library",
			of(({ versions }) => versions && `${versions.library}, driver ${versions.driver}`),
		],
		["target", of((run) => run.load.target)],
	]);
	return [
		shown,
		...doc.settings("broker's settings", together(runs.map((run) => run.brokerSettings))),
		...doc.settings(
			"library options",
			together(
				runs.flatMap(({ driverOptions }) => (driverOptions === null ? [] : [driverOptions])),
			),
		),
	];
}

const UNREADABLE = "unreadable";

/** Settings of each host, and of this machine without the governor, which has its own row. */
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
