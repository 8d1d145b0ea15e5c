import type { Result, Run } from "../../model/result.ts";
import { tell } from "../../text/tell.ts";
import { topologyText } from "../words.ts";
import {
	type Block,
	PAGE,
	type Section,
	type Table,
	type Text,
} from "./blocks.ts";
import { facts, heading, section } from "./make.ts";

/** Durability and effective settings of each system: what makes its numbers comparable, or not. */
export function systems({ runs }: Result): Section[] {
	const names = [...new Set(runs.map((run) => run.system))];
	if (names.length === 0) return [];
	const title =
		names.length === 1 ? tell("title-system") : tell("title-systems");
	const blocks = names.flatMap((name): Block[] => [
		heading(name),
		settingsOf(runs.filter((run) => run.system === name)),
	]);
	return [
		section("systems", title, blocks, { contents: "Settings", media: PAGE }),
	];
}

type Settings = Readonly<Record<string, string>>;

/** What has the same value in all of them. */
export function common(all: readonly Settings[]): Settings {
	const [first = {}, ...others] = all;
	return Object.fromEntries(
		Object.entries(first).filter(([key, value]) =>
			others.every((other) => other[key] === value),
		),
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

/** Settings below each other; null of none. */
export function settings(all: Settings): Text | null {
	const entries = Object.entries(all);
	return entries.length === 0 ? null : { kind: "settings", entries };
}

// --- internal ---

function brokerOf({ brokerSettings }: Run): Settings {
	return brokerSettings;
}

function driverOf({ driverOptions }: Run): Settings {
	return driverOptions ?? {};
}

/** Settings that are not alike in all runs are named; their values stand with the runs. */
function settingsOf(runs: readonly Run[]): Table {
	const measured = runs.filter((run) => run.driverOptions !== null);
	const differing = [
		...differ(runs.map(brokerOf)),
		...differ(measured.map(driverOf)),
	];
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
		["broker's settings", settings(common(runs.map(brokerOf)))],
		[
			"client library",
			all(
				({ versions }) =>
					versions && `${versions.library}, driver ${versions.driver}`,
			),
		],
		["library options", settings(common(measured.map(driverOf)))],
		[
			"differ by run",
			differing.length === 0
				? null
				: tell("settings-differ", { names: differing }),
		],
		["target", all((run) => run.load.target)],
	]);
}

function differ(all: readonly Settings[]): string[] {
	const shared = common(all);
	const keys = new Set(all.flatMap((one) => Object.keys(one)));
	return [...keys].filter((key) => !(key in shared));
}
