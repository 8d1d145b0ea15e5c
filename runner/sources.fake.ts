import { readdirSync } from "node:fs";
import path from "node:path";
import { parseAst } from "rolldown/parseAst";
import { packageFolder } from "./package.ts";

/** All TypeScript except tests and fakes, which may import anything. */
export function sources(): string[] {
	return ["runner", "infra"]
		.flatMap((top) =>
			readdirSync(path.join(packageFolder, top), { recursive: true }).map((file) =>
				path.posix.join(top, String(file).replaceAll("\\", "/")),
			),
		)
		.filter(
			(file) =>
				file.endsWith(".ts") &&
				!/\.(test|fake|config|d)\.ts$|\/node_modules\/|\/fixtures\//.test(file),
		);
}

/** A node of TypeScript's syntax tree. */
export interface Node {
	readonly type: string;
	readonly start: number;
	readonly end: number;
	readonly name?: unknown;
	readonly value?: unknown;
	readonly regex?: { readonly pattern: string };
	readonly arguments?: readonly Node[];
}

export function nodesOf(code: string): Node[] {
	const nodes: Node[] = [];
	const walk = (value: unknown): void => {
		if (typeof value !== "object" || value === null) return;
		if (!Array.isArray(value)) nodes.push(value as Node);
		for (const child of Object.values(value)) walk(child);
	};
	walk(parseAst(code, { lang: "ts" }));
	return nodes;
}
