import { z } from "zod";
import { Result } from "../model/result.ts";

/** JSON Schema of result.json: the text of `result.schema.json` beside this file. */
export function resultSchemaText(): string {
	const schema = z.toJSONSchema(Result, { reused: "ref" });
	return `${JSON.stringify({ title: "mqbench result", ...schema }, null, "\t")}\n`;
}
