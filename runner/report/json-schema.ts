import { z } from "zod";
import { DetailsFile, ResultFile } from "../model/result-file.ts";

/** JSON Schema of result.json: the text of `result.schema.json` beside this file. */
export function resultSchemaText(): string {
	return textOf("mqbench result", ResultFile);
}

/** JSON Schema of a run's details.json: the text of `details.schema.json` beside this file. */
export function detailsSchemaText(): string {
	return textOf("mqbench details", DetailsFile);
}

// --- internal ---

function textOf(title: string, file: z.ZodType): string {
	const schema = z.toJSONSchema(file, { reused: "ref" });
	return `${JSON.stringify({ title, ...schema }, null, "\t")}\n`;
}
