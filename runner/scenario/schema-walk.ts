import { stringify } from "yaml";
import { z } from "zod";
import { BrokerName, brokerOf } from "../brokers/index.ts";
import { isSystem, systemBroker } from "./place.ts";
import type { Path } from "./problem.ts";
import { ScenarioFile } from "./schema.ts";

/** What the schema has for a place in a scenario: which keys may stand there, and which values. */

/** Keys that may stand there. Of a system those of its broker; `whole`: the scenario as it is written. */
export function keysAt(path: Path, whole: unknown): string[] {
	const keys = schemasAt(path, whole)
		.flatMap(forms)
		.flatMap((one) => (one instanceof z.ZodObject ? Object.keys(one.shape) : []));
	return [...new Set(keys)];
}

/** May that value stand there? */
export function fits(path: Path, whole: unknown, value: unknown): boolean {
	return schemasAt(path, whole).some((one) => z.safeParse(one, value).success);
}

/** What a person may write there, as YAML; empty: the schema shows nothing. */
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

/** What the schema has for a step of a path: for a key of a map, an item of a list. */
function below(schema: z.core.$ZodType, step: string | number): z.core.$ZodType[] {
	if (schema instanceof z.ZodArray) return [schema.element];
	if (schema instanceof z.ZodRecord) return [schema.valueType];
	const one =
		schema instanceof z.ZodObject && Object.hasOwn(schema.shape, step) && schema.shape[step];
	return one ? [one] : [];
}

/** What may be written there: each of several forms, without default and optionality. */
function forms(schema: z.core.$ZodType): z.core.$ZodType[] {
	const within = inside(schema);
	return within.length === 0 ? [schema] : within.flatMap(forms);
}

/** What a schema is made of, as far as that stands for the same value. */
function inside(schema: z.core.$ZodType): readonly z.core.$ZodType[] {
	if (schema instanceof z.ZodUnion) return schema.options;
	// What a person writes, before anything is made of it.
	if (schema instanceof z.ZodPipe) return [schema.in];
	return schema instanceof z.ZodOptional ||
		schema instanceof z.ZodDefault ||
		schema instanceof z.ZodPrefault
		? [schema.unwrap()]
		: [];
}
