import { existsSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { cacheFolder } from "../../../infra/binaries/cache.ts";
import { failure } from "../../errors.ts";
import { readGiven } from "../../given-folder.ts";
import { Calibration, type Machine } from "../../model/comparison.ts";
import { reasonOf } from "../../reason.ts";
import { writeWhole } from "../../whole-file.ts";
import type { World } from "../../world.ts";

export const CALIBRATION = "calibration.json";

/** Reads a calibration.json, or that of a run folder. */
export function readCalibration(where: string): Calibration {
	const inside = path.join(where, CALIBRATION);
	let value: unknown;
	try {
		value = JSON.parse(existsSync(inside) ? readGiven(inside) : readFileSync(where, "utf8"));
	} catch (error) {
		throw failure("calibration-unreadable", {
			path: where,
			reason: error instanceof SyntaxError ? "it is no JSON" : reasonOf(error),
		});
	}
	const parsed = Calibration.safeParse(value);
	if (!parsed.success)
		throw failure("calibration-unreadable", {
			path: where,
			reason: "it is another kind of file, or of another version",
		});
	return parsed.data;
}

/**
 * What is known of this machine's noise in these works, from earlier `mqbench calibrate`; null: nothing. A file in the cache that
 * cannot be read counts as none: comparisons do without it.
 */
export function knownCalibration(
	machine: Machine,
	works: readonly string[],
	world: Pick<World, "env">,
): Calibration | null {
	const calibrations = [...new Set(works)].flatMap((work) => {
		const file = cachePath(machine, work, world);
		if (!existsSync(file)) return [];
		try {
			return [readCalibration(file)];
		} catch {
			return [];
		}
	});
	const [first] = calibrations;
	return first === undefined
		? null
		: { ...first, noise: calibrations.flatMap(({ noise }) => noise) };
}

/**
 * Keeps a calibration for later runs on this machine, one file for each work: what it knew of other systems stays. Returns the folder;
 * a cache that cannot be written is an error, as the person has waited for it.
 */
export function keepCalibration(calibration: Calibration, world: Pick<World, "env">): string {
	const { machine } = calibration;
	const works = new Set(calibration.noise.map(({ work }) => work));
	for (const work of works) {
		const own = calibration.noise.filter((noise) => noise.work === work);
		const systems = new Set(own.map(({ system }) => system));
		const before =
			knownCalibration(machine, [work], world)?.noise.filter(
				({ system }) => !systems.has(system),
			) ?? [];
		const file = cachePath(machine, work, world);
		writeCalibration(file, { ...calibration, noise: [...own, ...before] });
	}
	return path.dirname(cachePath(machine, "", world));
}

export function writeCalibration(file: string, value: Calibration): void {
	try {
		mkdirSync(path.dirname(file), { recursive: true });
		writeWhole(file, `${JSON.stringify(value, null, "\t")}\n`);
	} catch (error) {
		throw failure("cache-unwritable", { path: path.dirname(file), reason: reasonOf(error) });
	}
}

// --- internal ---

function cachePath({ fingerprint }: Machine, work: string, { env }: Pick<World, "env">): string {
	return path.join(
		cacheFolder(env, process.platform),
		"calibrations",
		`${fingerprint}-${work}.json`,
	);
}
