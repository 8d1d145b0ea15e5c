import { lstatSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import type { Drivers, Outside } from "../../runner/brokers/outside.ts";
import { failure } from "../../runner/errors.ts";
import { readGiven } from "../../runner/given-folder.ts";
import { codeLines } from "../../runner/plan/place-text.ts";
import { reasonOf } from "../../runner/reason.ts";
import type { Scenario } from "../../runner/scenario/scenario.ts";
import { MODULE_PATH, MODULE_VERSION } from "../../runner/scenario/schema.ts";
import { writeWhole } from "../../runner/whole-file.ts";
import type { World } from "../../runner/world.ts";
import { agreed } from "../ask.ts";

const Sum = z.string().regex(/^h1:[A-Za-z0-9+/]{43}=$/);

/** `<scenario>.lock`: what its drivers from outside were when they were allowed to run. */
const LockFile = z.strictObject({
	version: z.literal(1),
	extensions: z.array(
		z.strictObject({
			module: z.string().regex(MODULE_PATH),
			version: z.string().regex(MODULE_VERSION).nullable(),
			sum: Sum,
		}),
	),
});
type LockFile = z.infer<typeof LockFile>;

/** Compares with the lock beside the scenario. A module that is another one under the same version is refused, wherever it comes from. */
export function pinned(scenario: string, found: readonly Outside[]): Drivers {
	const lock = `${scenario.replace(/\.[^./\\]*$/, "")}.lock`;
	const { extensions } = readLock(lock);
	return {
		lock,
		found: found.map((one) => {
			const { module, version, sum, title } = one;
			const before = extensions.find((pin) => pin.module === module && pin.version === version);
			if (before && before.sum !== sum && version !== null)
				throw failure("extension-changed", {
					extension: title,
					path: lock,
					before: before.sum,
					sum,
				});
			return { ...one, before: before?.sum ?? null };
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
		throw allow
			? failure("code-changed", { path: drivers.lock, changed: changed.map(({ title }) => title) })
			: failure("code-unallowed", { scenario: name, lines });
	world.stderr.write(`${[`${name} runs code that is not mqbench's:`, ...lines].join("\n")}\n`);
	if (!(await agreed("Build and run it?", world)))
		throw failure("code-refused", { scenario: name });
}

/** Writes the lock, once they are built. */
export function pin({ lock, found }: Drivers): void {
	const extensions = found.map(({ module, version, sum }) => ({ module, version, sum }));
	const file: LockFile = { version: 1, extensions };
	const text = `${JSON.stringify(file, null, "\t")}\n`;
	try {
		if (lstatSync(lock, { throwIfNoEntry: false }) && readGiven(lock) === text) return;
		writeWhole(lock, text);
	} catch (error) {
		throw failure("lock-unwritable", { path: lock, reason: reasonOf(error) });
	}
}

// --- internal ---

function readLock(file: string): LockFile {
	if (!lstatSync(file, { throwIfNoEntry: false })) return { version: 1, extensions: [] };
	try {
		return LockFile.parse(JSON.parse(readGiven(file)));
	} catch (error) {
		const reason =
			error instanceof SyntaxError || error instanceof z.ZodError
				? "it is not one that mqbench has written"
				: reasonOf(error);
		throw failure("lock-unreadable", { path: path.basename(file), reason });
	}
}
