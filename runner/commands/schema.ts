import { EXIT, type ExitCode } from "../errors.ts";
import { resultSchemaText } from "../report/json-schema.ts";
import { scenarioSchemaText } from "../scenario/json-schema.ts";
import { rigSchemaText } from "../scenario/rig-file.ts";
import type { World } from "../world.ts";

export interface SchemaArgs {
	readonly what: keyof typeof texts;
}

/** `mqbench schema`: the JSON schema of scenario files, for editors, or of result.json and rig.json, for tools. */
export async function schema(
	{ what }: SchemaArgs,
	world: World,
): Promise<ExitCode> {
	world.stdout.write(texts[what]());
	return EXIT.pass;
}

// --- internal ---

const texts = {
	scenario: scenarioSchemaText,
	result: resultSchemaText,
	rig: rigSchemaText,
} as const;
