import { z } from "zod";
import { RigFile } from "./rig-file.ts";
import { ScenarioFile } from "./schema.ts";

/** A JSON schema (draft 2020-12), limited to the keywords that this project reads. */
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
	readonly additionalProperties?: JsonSchema;
}

export function scenarioJsonSchema(): JsonSchema {
	const { $schema, ...generated } = ofInput(ScenarioFile);
	const { properties = {} } = generated;
	return {
		$schema,
		title: "mqbench scenario",
		...generated,
		properties: {
			...properties,
			system: withVariables(properties.system),
			systems: withVariables(properties.systems),
		},
		// zod cannot express "exactly one of the two"; load.ts checks it.
		oneOf: [{ required: ["system"] }, { required: ["systems"] }],
	};
}

export function scenarioSchemaText(): string {
	return `${JSON.stringify(scenarioJsonSchema(), null, 2)}\n`;
}

export function rigSchemaText(): string {
	return `${JSON.stringify({ title: "mqbench rig", ...ofInput(RigFile) }, null, "\t")}\n`;
}

// --- internal ---

function ofInput(schema: z.ZodType): JsonSchema {
	return z.toJSONSchema(schema, {
		io: "input",
		// zod drops examples before a transform because they might describe its result; ours describe the input.
		override({ zodSchema, jsonSchema }) {
			const examples = z.globalRegistry.get(zodSchema)?.examples;
			if (Array.isArray(examples)) jsonSchema.examples = examples;
			if (jsonSchema.pattern) jsonSchema.pattern = portable(jsonSchema.pattern);
		},
	}) as JsonSchema;
}

/** Python lacks these character classes; the ranges match fewer characters. */
function portable(pattern: string): string {
	return pattern
		.replaceAll("\\p{C}", "\\u0000-\\u001f\\u007f-\\u009f")
		.replaceAll("\\p{Z}", "\\u0020\\u00a0");
}

/** Any string of a system may hold an environment variable (variables.ts). */
function withVariables(schema: JsonSchema | undefined): JsonSchema {
	return JSON.parse(JSON.stringify(schema), (key, value) =>
		key === "pattern" && typeof value === "string"
			? `${value}|\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}`
			: value,
	);
}
