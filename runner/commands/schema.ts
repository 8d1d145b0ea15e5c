import { Argument, type Command } from "commander";
import { z } from "zod";
import { EXIT, type ExitCode } from "../errors.ts";
import { DetailsFile, ResultFile } from "../model/result.ts";
import { rigSchemaText, scenarioSchemaText } from "../scenario/json-schema.ts";
import type { World } from "../world.ts";
import type { Action } from "./options.ts";

export function declare(command: Command, on: Action): void {
	command
		.addArgument(
			new Argument("[what]", "which schema").choices(Object.keys(texts)).default("scenario"),
		)
		.action(on(schema, "what"));
}

export async function schema(
	{ what }: { readonly what: keyof typeof texts },
	world: World,
): Promise<ExitCode> {
	world.stdout.write(texts[what]());
	return EXIT.pass;
}

// --- internal ---

const texts = {
	scenario: scenarioSchemaText,
	result: () => textOf("mqbench result", ResultFile),
	details: () => textOf("mqbench details", DetailsFile),
	rig: rigSchemaText,
} as const;

function textOf(title: string, file: z.ZodType): string {
	const schema = z.toJSONSchema(file, { reused: "ref" });
	return `${JSON.stringify({ title, ...schema }, null, "\t")}\n`;
}
