import type { Result, Run } from "../model/result.ts";
import { topologyText } from "../result/words.ts";
import { type Block, code, type Fold, heading, type Inline, list, section } from "./blocks.ts";
import { facts } from "./facts.ts";

/** Durability and effective settings of each system: what makes its numbers comparable, or not. */
export function systems({ runs }: Result): Fold[] {
	const names = [...new Set(runs.map((run) => run.system))];
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
	const names = [...new Set(measured.map((run) => run.system))];
	const items = EACH_MESSAGE.flatMap((key): Inline[] => {
		const texts = names.map((name) => {
			const own = measured.filter((run) => run.system === name);
			const said = own.map((run) => driverOf(run)[key]);
			return [...new Set(said)].join(" / ");
		});
		const different = [...new Set(texts)].map(
			(text) => `${text} (${names.filter((_, i) => texts[i] === text).join(", ")})`,
		);
		// Drivers of before say other things, or nothing.
		const known = measured.every((run) => key in driverOf(run));
		return !known || different.length < 2 ? [] : [[code(key), `: ${different.join("; ")}`]];
	});
	return items.length === 0
		? []
		: [
				section("differences", "What the systems' drivers do differently, per message", [
					list(items),
				]),
			];
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

type Settings = Readonly<Record<string, string>>;

/** What has the same value in all of them. */
export function common(all: readonly Settings[]): Settings {
	const [first = {}, ...others] = all;
	return Object.fromEntries(
		Object.entries(first).filter(([key, value]) => others.every((other) => other[key] === value)),
	);
}

/** What this run has and not all runs of its system: it stands with the run. */
export function ownSettings(run: Run, { runs }: Result): Settings {
	const alike = runs.filter((other) => other.system === run.system);
	const own = (of: (run: Run) => Settings) => {
		const shared = common(alike.map(of));
		return Object.entries(of(run)).filter(([key]) => !(key in shared));
	};
	return Object.fromEntries([...own(brokerOf), ...own(driverOf)]);
}

// --- internal ---

function brokerOf({ brokerSettings }: Run): Settings {
	return brokerSettings;
}

function driverOf({ driverOptions }: Run): Settings {
	return driverOptions ?? {};
}

/** Settings that are not alike in all runs are named; their values stand with the runs. */
function settingsOf(runs: readonly Run[]): Block[] {
	const measured = runs.filter((run) => run.driverOptions !== null);
	const differing = [...differ(runs.map(brokerOf)), ...differ(measured.map(driverOf))];
	const all = (of: (run: Run) => string | null | undefined) =>
		[...new Set(runs.map(of).filter((text) => text))].join("; ");
	return facts([
		["broker", all((run) => run.load.broker)],
		["version", all((run) => run.versions?.server || run.brokerVersion)],
		["durability", all((run) => run.load.durability)],
		["durability level", all((run) => run.load.durabilityLevel)],
		["topology", all(topologyText)],
		["replicas", all((run) => run.load.replicas?.toString())],
		["sends acknowledged", all((run) => (run.load.acks ? "yes" : "no"))],
		["broker's settings", common(runs.map(brokerOf))],
		[
			"client library",
			all(({ versions }) => versions && `${versions.library}, driver ${versions.driver}`),
		],
		["library options", common(measured.map(driverOf))],
		[
			"differ by run",
			differing.length === 0 ? null : `${differing.join(", ")}: see what each run ran with`,
		],
		["target", all((run) => run.load.target)],
	]);
}

function differ(all: readonly Settings[]): string[] {
	const shared = common(all);
	const keys = new Set(all.flatMap((one) => Object.keys(one)));
	return [...keys].filter((key) => !(key in shared));
}
