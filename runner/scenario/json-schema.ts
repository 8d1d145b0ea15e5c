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
		},
	}) as JsonSchema;
	return {
		$schema,
		title: "mqbench scenario",
		...generated,
		// zod cannot say "exactly one of the two"; load.ts checks it.
		oneOf: [{ required: ["system"] }, { required: ["systems"] }],
	};
}

/** The text of `scenarios/scenario.schema.json`. */
export function scenarioSchemaText(): string {
	return `${JSON.stringify(scenarioJsonSchema(), null, 2)}\n`;
}
