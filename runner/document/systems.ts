import type { Result, Run } from "../model/result.ts";
import { topologyText } from "../result/words.ts";
import { type Block, code, type Fold, heading, type Inline, list, section } from "./blocks.ts";
import { facts, settings } from "./facts.ts";

/** Durability and effective settings of each system: what makes its numbers comparable, or not. */
export function systems({ runs }: Result): Fold[] {
	const names = systemsOf(runs);
	if (names.length === 0) return [];
	const title =
		names.length === 1 ? "The system, with its settings" : "The systems, with their settings";
	const blocks = names.flatMap((name) => [
		heading(name),
		...settingsOf(runs.filter((run) => run.system === name)),
	]);
	return [section("systems", title, blocks, { depth: 3 })];
}

/** What the drivers do for each message, where it is not the same for all systems: as much a part of the numbers as durability. */
export function differences({ runs }: Result): Fold[] {
	const measured = runs.filter((run) => run.driverOptions !== null);
	const names = systemsOf(measured);
	const own = names.map((name) =>
		together(measured.filter((run) => run.system === name).map((run) => run.driverOptions ?? {})),
	);
	const items = EACH_MESSAGE.flatMap((key): Inline[] => {
		const texts = own.map((options) => options[key] ?? UNSET);
		const different = [...new Set(texts)].map(
			(text) => `${text} (${names.filter((_, i) => texts[i] === text).join(", ")})`,
		);
		return texts.includes(UNSET) || different.length < 2
			? []
			: [[code(key), `: ${different.join("; ")}`]];
	});
	const title = "What the systems' drivers do differently, per message";
	return items.length === 0 ? [] : [section("differences", title, [list(items)])];
}

/** Settings in which every driver says it (xk6-mqbench/broker/broker.go, EachMessage). */
export const EACH_MESSAGE: readonly string[] = [
	"confirm",
	"flush",
	"batching",
	"compression",
	"acknowledgeAlone",
	"acknowledgeInGroup",
	"prefetch",
];

// --- internal ---

const UNSET = "not set";
/** More values of one setting are counted: a port is another one in each run. */
const MOST_VALUES = 3;

function systemsOf(runs: readonly Run[]): string[] {
	return [...new Set(runs.map((run) => run.system))];
}

/** Each once: "1 / 25"; "". */
function each(values: readonly (string | null | undefined)[]): string {
	const all = [...new Set(values.filter((value) => value))];
	return all.length > MOST_VALUES ? `${all.length} values` : all.join(" / ");
}

/** Settings of several runs: by key, every value that it had. */
function together(all: readonly Readonly<Record<string, string>>[]): Record<string, string> {
	const keys = [...new Set(all.flatMap((one) => Object.keys(one)))];
	return Object.fromEntries(keys.map((key) => [key, each(all.map((one) => one[key] ?? UNSET))]));
}

function settingsOf(runs: readonly Run[]): Block[] {
	const of = (text: (run: Run) => string | null | undefined) => each(runs.map(text));
	const shown = facts([
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
		...settings("broker's settings", together(runs.map((run) => run.brokerSettings))),
		...settings(
			"library options",
			together(
				runs.flatMap(({ driverOptions }) => (driverOptions === null ? [] : [driverOptions])),
			),
		),
	];
}
