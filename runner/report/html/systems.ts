import type { Result, Run } from "../../model/result.ts";
import { topologyText } from "../words.ts";
import { type Markup, markup } from "./markup.ts";
import { factsTable } from "./sections.ts";

/** Durability and effective settings of each system: what makes its numbers comparable, or not. */
export function systems({ runs }: Result): Markup | null {
	const names = [...new Set(runs.map((run) => run.system))];
	if (names.length === 0) return null;
	return markup`<section id="systems"><div class="head"><h2>${names.length === 1 ? "The system, with its settings" : "The systems, with their settings"}</h2></div>
${names.map((name) => markup`<h3>${name}</h3>${settings(runs.filter((run) => run.system === name))}`)}</section>`;
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

/** Settings below each other; "" of none. */
export function settingsList(all: Settings): Markup | string {
	const entries = Object.entries(all);
	if (entries.length === 0) return "";
	const list = markup`<ul class="settings">${entries.map(([key, value]) => markup`<li>${key}=${value}</li>`)}</ul>`;
	return entries.length <= MOST_OPEN
		? list
		: markup`<details><summary>${entries.length} settings</summary>${list}</details>`;
}

// --- internal ---

/** More are folded. */
const MOST_OPEN = 8;

function brokerOf({ brokerSettings }: Run): Settings {
	return brokerSettings;
}

function driverOf({ driverOptions }: Run): Settings {
	return driverOptions ?? {};
}

/** Settings that are not alike in all runs are named; their values stand with the runs. */
function settings(runs: readonly Run[]): Markup {
	const measured = runs.filter((run) => run.driverOptions !== null);
	const differing = [
		...differ(runs.map(brokerOf)),
		...differ(measured.map(driverOf)),
	];
	const all = (of: (run: Run) => string | null | undefined) =>
		[...new Set(runs.map(of).filter((text) => text))].join("; ");
	return factsTable([
		["broker", all((run) => run.load.broker)],
		["version", all((run) => run.versions?.server || run.brokerVersion)],
		["durability", all((run) => run.load.durability)],
		["durability level", all((run) => run.load.durabilityLevel)],
		["topology", all(topologyText)],
		["replicas", all((run) => run.load.replicas?.toString())],
		["acknowledges", all((run) => (run.load.acks ? "yes" : "no"))],
		["broker's settings", settingsList(common(runs.map(brokerOf)))],
		[
			"client library",
			all(
				({ versions }) =>
					versions && `${versions.library}, driver ${versions.driver}`,
			),
		],
		["library options", settingsList(common(measured.map(driverOf)))],
		[
			"differ by run",
			differing.length === 0
				? null
				: `${differing.join(", ")}: see what each run ran with`,
		],
		["target", all((run) => run.load.target)],
	]);
}

function differ(all: readonly Settings[]): string[] {
	const shared = common(all);
	const keys = new Set(all.flatMap((one) => Object.keys(one)));
	return [...keys].filter((key) => !(key in shared));
}
