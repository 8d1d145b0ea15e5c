import { stringify } from "yaml";
import { z } from "zod";
import { BrokerName, brokerOf } from "../brokers/index.ts";
import { isSystem, systemBroker } from "./place.ts";
import type { Path } from "./problem.ts";
import { ScenarioFile } from "./schema.ts";

/** The keys allowed at `path`, for a system those of its broker. `whole` is the written scenario. */
export function keysAt(path: Path, whole: unknown): string[] {
	const keys = schemasAt(path, whole)
		.flatMap(forms)
		.flatMap((one) => (one instanceof z.ZodObject ? Object.keys(one.shape) : []));
	return [...new Set(keys)];
}

export function fits(path: Path, whole: unknown, value: unknown): boolean {
	return schemasAt(path, whole).some((one) => z.safeParse(one, value).success);
}

/** As YAML. */
export function examplesAt(path: Path, whole: unknown): string[] {
	const examples = (schema: z.core.$ZodType): unknown[] =>
		(z.globalRegistry.get(schema)?.examples as unknown[] | undefined) ??
		inside(schema).flatMap(examples);
	return schemasAt(path, whole)
		.flatMap(examples)
		.map((one) => stringify(one, { collectionStyle: "flow", lineWidth: 0 }).trim());
}

// --- internal ---

function schemasAt(path: Path, whole: unknown): z.core.$ZodType[] {
	let schemas: z.core.$ZodType[] = [ScenarioFile];
	for (const [depth, step] of path.entries()) {
		const here = path.slice(0, depth + 1);
		const broker = BrokerName.safeParse(systemBroker(here, whole)).data;
		schemas =
			isSystem(here) && broker !== undefined
				? [brokerOf({ broker }).options]
				: schemas.flatMap(forms).flatMap((schema) => below(schema, step));
	}
	return schemas;
}

function below(schema: z.core.$ZodType, step: string | number): z.core.$ZodType[] {
	if (schema instanceof z.ZodArray) return [schema.element];
	if (schema instanceof z.ZodRecord) return [schema.valueType];
	const one =
		schema instanceof z.ZodObject && Object.hasOwn(schema.shape, step) && schema.shape[step];
	return one ? [one] : [];
}

/** The alternatives, without defaults and optionality. */
function forms(schema: z.core.$ZodType): z.core.$ZodType[] {
	const within = inside(schema);
	return within.length === 0 ? [schema] : within.flatMap(forms);
}

function inside(schema: z.core.$ZodType): readonly z.core.$ZodType[] {
	if (schema instanceof z.ZodUnion) return schema.options;
	// The written form, before any transform.
	if (schema instanceof z.ZodPipe) return [schema.in];
	return schema instanceof z.ZodOptional ||
		schema instanceof z.ZodDefault ||
		schema instanceof z.ZodPrefault
		? [schema.unwrap()]
		: [];
}
