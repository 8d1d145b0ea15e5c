import { parse } from "yaml";
import { failure } from "../errors.ts";
import type { NamedText } from "./omb.ts";

/** The map of keys that a YAML file of another tool holds. */
export function parseFile({ file, text }: NamedText): Record<string, unknown> {
	let value: unknown;
	try {
		value = parse(text, { logLevel: "error" });
	} catch (error) {
		const [first = ""] = (error as Error).message.split("\n");
		throw failure("import-unreadable", { path: file, reason: first });
	}
	if (typeof value !== "object" || value === null || Array.isArray(value))
		throw failure("import-unreadable", {
			path: file,
			reason: "it is no map of keys",
		});
	return value as Record<string, unknown>;
}

/** Java properties as OpenMessaging Benchmark embeds them: `key=value` or `key: value` a line, # and ! begin comments. */
export function parseProperties(text: unknown): [key: string, value: string][] {
	if (typeof text !== "string") return [];
	return text.split(/\r?\n/).flatMap((line): [string, string][] => {
		const found = /^\s*([^#!\s=:][^=:\s]*)\s*[=:\s]\s*(.*?)\s*$/.exec(line);
		return found ? [[found[1] ?? "", found[2] ?? ""]] : [];
	});
}

/** How a left-out value is quoted; passwords are not. */
export function quoted(key: string, value: unknown): string {
	if (/password|secret|token|jaas|credential/i.test(key))
		return `${key}: (hidden)`;
	const text = typeof value === "string" ? value : JSON.stringify(value);
	return `${key}: ${text.length > 60 ? `${text.slice(0, 57)}...` : text}`;
}
