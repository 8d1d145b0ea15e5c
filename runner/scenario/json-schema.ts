import { z } from "zod";
import { ScenarioFile } from "./schema.ts";

/** A JSON schema (draft 2020-12), as far as this project looks into one. */
export interface JsonSchema {
	readonly [keyword: string]: unknown;
	readonly type?: string;
	readonly description?: string;
	readonly examples?: readonly unknown[];
	readonly default?: unknown;
	readonly enum?: readonly unknown[];
	readonly const?: unknown;
	readonly properties?: Readonly<Record<string, JsonSchema>>;
	readonly required?: readonly string[];
	readonly anyOf?: readonly JsonSchema[];
	readonly oneOf?: readonly JsonSchema[];
	readonly items?: JsonSchema;
	readonly additionalProperties?: JsonSchema | boolean;
	readonly minimum?: number;
	readonly maximum?: number;
}

/** The schema of what a person writes, for editors: completion, descriptions, red lines. */
export function scenarioJsonSchema(): JsonSchema {
	const { $schema, ...generated } = z.toJSONSchema(ScenarioFile, {
		io: "input",
		// zod drops examples of what a transform follows, as they might be of its result; ours are what a person writes.
		override({ zodSchema, jsonSchema }) {
			const examples = z.globalRegistry.get(zodSchema)?.examples;
			if (Array.isArray(examples)) jsonSchema.examples = examples;
			if (jsonSchema.pattern) jsonSchema.pattern = portable(jsonSchema.pattern);
		},
	}) as JsonSchema;
	return {
		$schema,
		title: "mqbench scenario",
		...generated,
		properties: Object.fromEntries(
			Object.entries(generated.properties ?? {}).map(([key, field]) => [
				key,
				key === "system" || key === "systems" ? withVariables(field) : field,
			]),
		),
		// zod cannot say "exactly one of the two"; load.ts checks it.
		oneOf: [{ required: ["system"] }, { required: ["systems"] }],
	};
}

/** The text of `scenarios/scenario.schema.json`. */
export function scenarioSchemaText(): string {
	return `${JSON.stringify(scenarioJsonSchema(), null, 2)}\n`;
}

// --- internal ---

/** Classes of characters that Python's regular expressions lack, as ranges: rather too few than too many. */
function portable(pattern: string): string {
	return pattern
		.replaceAll("\\p{C}", "\\u0000-\\u001f\\u007f-\\u009f")
		.replaceAll("\\p{Z}", "\\u0020\\u00a0");
}

/** Any text of a system may hold a variable of the environment (variables.ts). */
function withVariables<Value>(value: Value): Value {
	if (Array.isArray(value)) return value.map(withVariables) as Value;
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(
		Object.entries(value).map(([key, part]) => [
			key,
			key === "pattern" && typeof part === "string"
				? `${part}|\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}`
				: withVariables(part),
		]),
	) as Value;
}
