import { existsSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { failure } from "../errors.ts";
import { readGiven } from "../given-folder.ts";
import { reasonOf } from "../reason.ts";
import { Baseline, Calibration } from "./comparison.ts";

/**
 * `against.json` in the folder of a command: all that its comparisons rest on and that is not measured by itself, so that they
 * can be recomputed from the folder when the baseline has moved or changed. A few kB.
 */
export const BaselineSnapshot = z.strictObject({
	schema: z.literal(1),
	/** What the baseline is called, for people: "the baseline of 2026-11-20 (main.json)"; null: it is a system of the scenario. */
	name: z.string().nullable(),
	/** null: it is a system of the scenario. */
	baseline: Baseline.nullable(),
	/** A/A runs of this machine, as far as they are of this work; null: there are none. */
	calibration: Calibration.nullable(),
});
export type BaselineSnapshot = z.infer<typeof BaselineSnapshot>;

export const SNAPSHOT = "against.json";

/** What the folder's runs are compared with; null: nothing, or a system of the scenario without a calibration. */
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
