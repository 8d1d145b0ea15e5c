import { existsSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { failure } from "../errors.ts";
import { readGiven } from "../given-folder.ts";
import { reasonOf } from "../reason.ts";
import { Baseline, Calibration } from "./comparison.ts";

/** `against.json` in a command's folder: the baseline and the calibration of its comparisons, to recompute them later. */
export const BaselineSnapshot = z.strictObject({
	schema: z.literal(1),
	/** "the baseline of 2026-11-20 (main.json)". Null, like `baseline`, if the runs were compared with a system of the scenario. */
	name: z.string().nullable(),
	baseline: Baseline.nullable(),
	calibration: Calibration.nullable(),
});
export type BaselineSnapshot = z.infer<typeof BaselineSnapshot>;

export const SNAPSHOT = "against.json";

/** Null if nothing was compared, or only with a system of the scenario and without a calibration. */
export function readSnapshot(folder: string): BaselineSnapshot | null {
	const file = path.join(folder, SNAPSHOT);
	if (!existsSync(file)) return null;
	try {
		return BaselineSnapshot.parse(JSON.parse(readGiven(file)));
	} catch (error) {
		const ours = !(error instanceof SyntaxError || error instanceof z.ZodError);
		throw failure("run-file-unreadable", {
			path: file,
			reason: ours ? reasonOf(error) : "it is not what mqbench writes",
		});
	}
}
