import { lstatSync } from "node:fs";
import path from "node:path";
import type { Drivers, Outside } from "../../runner/brokers/outside.ts";
import { failure } from "../../runner/errors.ts";
import { readGiven } from "../../runner/given-folder.ts";
import { codeLines } from "../../runner/plan/place-text.ts";
import { reasonOf } from "../../runner/reason.ts";
import type { Scenario } from "../../runner/scenario/scenario.ts";
import { writeWhole } from "../../runner/whole-file.ts";
import type { World } from "../../runner/world.ts";
import { agreed } from "../ask.ts";

/** Compares with the lock beside the scenario. A module that is another one under the same version is refused, wherever it comes from. */
export function pinned(scenario: string, found: readonly Outside[]): Drivers {
	const lock = `${scenario.replace(/\.[^./\\]*$/, "")}.lock`;
	const sums = readLock(lock);
	return {
		lock,
		found: found.map((one) => {
			const { version, sum, title: extension } = one;
			const before = sums.get(nameOf(one)) ?? null;
			if (before !== null && before !== sum && version !== null)
				throw failure("extension-changed", { extension, path: lock, before, sum });
			return { ...one, before };
		}),
	};
}

/**
 * Drivers from outside are code of others: asks before it is built and run. `allow` (--allow-code) answers for what the lock has or does not know
 * yet, not for what has changed since.
 */
export async function allowCode(scenario: Scenario, allow: boolean, world: World): Promise<void> {
	const { drivers, name } = scenario;
	if (drivers === null) return;
	const changed = drivers.found.filter(({ before, sum }) => before !== null && before !== sum);
	if (allow && changed.length === 0) return;
	const lines = codeLines(scenario).map((line) => `  ${line}`);
	if (world.ask === null)
		throw changed.length > 0
			? failure("code-changed", { path: drivers.lock, changed: changed.map(({ title }) => title) })
			: failure("code-unallowed", { scenario: name, lines });
	world.stderr.write(`${[`${name} runs code that is not mqbench's:`, ...lines].join("\n")}\n`);
	if (!(await agreed("Build and run it?", world)))
		throw failure("code-refused", { scenario: name });
}

/** Writes the lock, once they are built. */
export function pin({ lock, found }: Drivers): void {
	const text = found.map((one) => `${nameOf(one)} ${one.sum}\n`).join("");
	try {
		if (lstatSync(lock, { throwIfNoEntry: false }) && readGiven(lock) === text) return;
		writeWhole(lock, text);
	} catch (error) {
		throw failure("lock-unwritable", { path: lock, reason: reasonOf(error) });
	}
}

// --- internal ---

/** Of the lock, as in go.sum: what a driver from outside was when it was allowed to run. */
const LINE = /^(\S+ (?:v\S+|folder)) (h1:[A-Za-z0-9+/]{43}=)\n/gm;

function nameOf({ module, version }: Outside): string {
	return `${module} ${version ?? "folder"}`;
}

function readLock(file: string): ReadonlyMap<string, string> {
	if (!lstatSync(file, { throwIfNoEntry: false })) return new Map();
	const refused = (reason: string) =>
		failure("lock-unreadable", { path: path.basename(file), reason });
	let text: string;
	try {
		text = readGiven(file);
	} catch (error) {
		throw refused(reasonOf(error));
	}
	const lines = [...text.matchAll(LINE)];
	if (lines.map(([line]) => line).join("") !== text)
		throw refused("it is not one that mqbench has written");
	return new Map(lines.map(([, name = "", sum = ""]) => [name, sum]));
}
