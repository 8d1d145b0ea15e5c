import { existsSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { cacheFolder } from "../../../infra/programs/cache.ts";
import { failure } from "../../errors.ts";
import { readGiven } from "../../given-folder.ts";
import { Calibration, type Machine } from "../../model/comparison.ts";
import { reasonOf } from "../../reason.ts";
import { writeWhole } from "../../whole-file.ts";
import type { World } from "../../world.ts";

export const CALIBRATION = "calibration.json";

/** For these works only: from the calibration.json or run folder `given`, else from the cache of `mqbench calibrate`. */
export function calibrationFor(
	given: string | undefined,
	machine: Machine | null,
	works: readonly string[],
	world: Pick<World, "cwd" | "env">,
): Calibration | null {
	const found =
		given === undefined
			? machine && keptOf(machine, world)
			: readCalibration(path.resolve(world.cwd, given));
	if (!found || found.machine.fingerprint !== machine?.fingerprint) return null;
	const noise = found.noise.filter(({ work }) => works.includes(work));
	return noise.length === 0 ? null : { ...found, noise };
}

/** Adds to the cached noise of other work and systems, and returns the folder. Throws if the cache cannot be written. */
export function keepCalibration(calibration: Calibration, world: Pick<World, "env">): string {
	const { machine, noise } = calibration;
	const isNew = (one: Calibration["noise"][number]) =>
		noise.some(({ work, system }) => work === one.work && system === one.system);
	const before = keptOf(machine, world)?.noise.filter((one) => !isNew(one)) ?? [];
	const file = keptPath(machine, world);
	writeCalibration(file, { ...calibration, noise: [...noise, ...before] });
	return path.dirname(file);
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

function readCalibration(where: string): Calibration {
	const inside = path.join(where, CALIBRATION);
	const no = (reason: string) => failure("calibration-unreadable", { path: where, reason });
	let value: unknown;
	try {
		value = JSON.parse(existsSync(inside) ? readGiven(inside) : readFileSync(where, "utf8"));
	} catch (error) {
		throw no(error instanceof SyntaxError ? "it is no JSON" : reasonOf(error));
	}
	const { data } = Calibration.safeParse(value);
	if (data === undefined) throw no("it is another kind of file, or of another version");
	return data;
}

/** An unreadable file in the cache counts as none: comparisons do without it. */
function keptOf(machine: Machine, world: Pick<World, "env">): Calibration | null {
	try {
		return readCalibration(keptPath(machine, world));
	} catch {
		return null;
	}
}

function keptPath({ fingerprint }: Machine, { env }: Pick<World, "env">): string {
	return path.join(cacheFolder(env, process.platform), "calibrations", `${fingerprint}.json`);
}
