import path from "node:path";
import { failure } from "../errors.ts";
import type { Calibration } from "../model/comparison.ts";
import { tell } from "../text/tell.ts";
import type { World } from "../world.ts";
import { knownCalibration, readCalibration } from "./calibrate/file.ts";
import type { Named } from "./comparing.ts";

/** `--systems`: the two systems that are compared, the baseline's first; null: the same ones of several runs. */
export function systemsOf(
	given: string | undefined,
	a: Named,
	rest: readonly Named[],
): readonly [string, string] | null {
	const known = (of: Named) => [...new Set(of.baseline.runs.map((run) => run.system))];
	if (given === undefined) {
		if (rest.length > 0) return null;
		throw usage(
			tell("compared-with-what", {
				path: a.path,
				systems:
					known(a).length > 1
						? tell("or-two-systems", { systems: known(a).slice(0, 2).join(",") })
						: "",
			}),
		);
	}
	const [first, second, ...more] = given.split(",").map((name) => name.trim());
	if (!first || !second || more.length > 0) throw usage(tell("two-names", { given }));
	for (const [name, of] of [
		[first, a] as const,
		...(rest.length === 0 ? [a] : rest).map((one) => [second, one] as const),
	])
		if (!known(of).includes(name))
			throw usage(`${of.path}: has no system ${name}; it has ${known(of).join(", ") || "none"}`);
	return [first, second];
}

/** The one that was named, or what `mqbench calibrate` has left of these machines and works. */
export function calibrationOf(
	given: string | undefined,
	others: readonly Named[],
	world: World,
): Calibration | null {
	if (given !== undefined) return readCalibration(path.resolve(world.cwd, given));
	const [first] = others;
	const machine = first?.baseline.machine ?? null;
	if (machine === null) return null;
	const works = others.flatMap((o) => o.baseline.runs.map((run) => run.work));
	return knownCalibration(machine, works, world);
}

// --- internal ---

function usage(message: string) {
	return failure("usage", { message });
}
