import { z } from "zod";
import { type WorkloadField, workloadInput } from "../model/workload.ts";

/** The fields of a workload (model/workload.ts) as a scenario has them. Cases and matrices take the same ones. */

/** A workload with every default that doesn't depend on another field. What each case resolves to. */
const WorkloadFile = z.strictObject(workloadInput);
export type WrittenWorkload = z.infer<typeof WorkloadFile>;

/** Cases and matrices have no defaults: what they leave out is the workload's. */
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

/** Fields are optional here, as cases may bring them. */
export const SharedWorkload = WorkloadFile.partial({ message: true });
export type SharedWorkload = Omit<WrittenWorkload, "message"> &
	Partial<Pick<WrittenWorkload, "message">>;
