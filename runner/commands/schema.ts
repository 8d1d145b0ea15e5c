import { EXIT, type ExitCode } from "../errors.ts";
import { resultSchemaText } from "../report/json-schema.ts";
import { scenarioSchemaText } from "../scenario/json-schema.ts";
import type { World } from "../world.ts";

export interface SchemaArgs {
	readonly what: "scenario" | "result";
}

/** `mqbench schema`: the JSON schema of scenario files, for editors, or of result.json, for tools. */
export async function schema(
	{ what }: SchemaArgs,
	world: World,
): Promise<ExitCode> {
	world.stdout.write(
		what === "scenario" ? scenarioSchemaText() : resultSchemaText(),
	);
	return EXIT.pass;
}
