import { z } from "zod";
import { type WorkloadField, workloadInput } from "../model/workload.ts";

/** A workload (model/workload.ts) with every default that does not depend on another field. */
const WorkloadFile = z.strictObject(workloadInput);
export type WrittenWorkload = z.infer<typeof WorkloadFile>;

/** Cases and matrices have no defaults: missing fields come from the workload. */
export const overrides = Object.fromEntries(
	Object.entries(workloadInput).map(([field, schema]) => [field, written(schema)]),
) as { [F in WorkloadField]: Written<(typeof workloadInput)[F]> };
type Written<T> = T extends
	| z.ZodOptional<infer Inner>
	| z.ZodDefault<infer Inner>
	| z.ZodPrefault<infer Inner>
	? Inner
	: T;
function written(schema: z.ZodType): unknown {
	return schema instanceof z.ZodOptional ||
		schema instanceof z.ZodDefault ||
		schema instanceof z.ZodPrefault
		? schema.unwrap()
		: schema;
}

/** Cases may supply `message`. */
export const SharedWorkload = WorkloadFile.partial({ message: true });
export type SharedWorkload = Omit<WrittenWorkload, "message"> &
	Partial<Pick<WrittenWorkload, "message">>;
