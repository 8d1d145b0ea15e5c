import { z } from "zod";
import { RigFile } from "./rig-file.ts";
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
}

/** The schema of what a person writes, for editors: completion, descriptions, red lines. */
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
		// zod cannot say "exactly one of the two"; load.ts checks it.
		oneOf: [{ required: ["system"] }, { required: ["systems"] }],
	};
}

/** The text of `scenarios/scenario.schema.json`. */
export function scenarioSchemaText(): string {
	return `${JSON.stringify(scenarioJsonSchema(), null, 2)}\n`;
}

/** The text of `infra/rig.schema.json`. */
export function rigSchemaText(): string {
	return `${JSON.stringify({ title: "mqbench rig", ...ofInput(RigFile) }, null, "\t")}\n`;
}

// --- internal ---

function ofInput(schema: z.ZodType): JsonSchema {
	return z.toJSONSchema(schema, {
		io: "input",
		// zod drops examples of what a transform follows, as they might be of its result; ours are what a person writes.
		override({ zodSchema, jsonSchema }) {
			const examples = z.globalRegistry.get(zodSchema)?.examples;
			if (Array.isArray(examples)) jsonSchema.examples = examples;
			if (jsonSchema.pattern) jsonSchema.pattern = portable(jsonSchema.pattern);
		},
	}) as JsonSchema;
}

/** Classes of characters that Python's regular expressions lack, as ranges: rather too few than too many. */
function portable(pattern: string): string {
	return pattern
		.replaceAll("\\p{C}", "\\u0000-\\u001f\\u007f-\\u009f")
		.replaceAll("\\p{Z}", "\\u0020\\u00a0");
}

/** Any text of a system may hold a variable of the environment (variables.ts). */
function withVariables(schema: JsonSchema | undefined): JsonSchema {
	return JSON.parse(JSON.stringify(schema), (key, value) =>
		key === "pattern" && typeof value === "string"
			? `${value}|\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}`
			: value,
	);
}
