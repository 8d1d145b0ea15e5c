import { readFileSync } from "node:fs";
import path from "node:path";
import { parseAst } from "rolldown/parseAst";
import { describe, expect, it } from "vitest";
import { packageFolder } from "./package.ts";
import { sources } from "./sources.fake.ts";

/** Tests, fakes and benchmarks spread what they have made themselves. */
const shipped = sources().filter((file) => !/^runner\/(tests|tools)\//.test(file));

/** Arguments lie on the stack, which some 120 000 of them overflow: a run of 3.4 hours has more samples. */
describe("data that is spread into a call", () => {
	it("is nowhere in the program", () => {
		expect(
			shipped.flatMap((file) =>
				spreads(file, readFileSync(path.join(packageFolder, file), "utf8")),
			),
		).toEqual([]);
	});

	it("would be found in each kind of call, with a sentence that says what to write", () => {
		const code = [
			"const a = Math.max(0, ...data);",
			"all.push(...data.map(String));",
			"String.fromCharCode(...bytes);",
			"new Array(...data);",
			"[].concat(...data);",
			"all.splice(0, 0, ...[1, ...data]);",
			"Math.min.apply(null, data);",
			"Reflect.apply(Math.min, null, data);",
			"node.append(...(one ? [1] : data));",
		];
		expect(spreads("a.ts", code.join("\n"))).toEqual(
			code.map(
				(_, i) =>
					`a.ts:${i + 1} hands data to a call as arguments; use largestOf or smallestOf (runner/extremes.ts), a loop, or [...a, ...b]`,
			),
		);
	});

	it("would not be seen in lists that stand in the code, nor in the parameters of a function", () => {
		const code = `
			const LEVELS = ["a", "b"];
			all.push(...["a", "b"], ...(one ? ["c"] : []), ...LEVELS.map(String));
			const handOn = (...values) => tell("x", ...values);
			const both = [...data, ...data];
			apply(data);
		`;
		expect(spreads("a.ts", code)).toEqual([]);
	});
});

// --- internal ---

interface Node {
	readonly type: string;
	readonly start: number;
	readonly name?: string;
	readonly argument?: Node;
	readonly arguments?: readonly Node[];
	readonly callee?: Node;
	readonly consequent?: Node;
	readonly alternate?: Node;
	readonly elements?: readonly (Node | null)[];
	readonly expression?: Node;
	readonly object?: Node;
	readonly params?: readonly Node[];
	readonly property?: Node;
}

function spreads(file: string, code: string): string[] {
	const found: string[] = [];
	walk(parseAst(code, { lang: "ts" }), new Set(), (call, rest) => {
		if (applies(call) || call.arguments?.some((one) => !isBounded(one, rest, true)))
			found.push(
				`${file}:${code.slice(0, call.start).split("\n").length} hands data to a call as arguments; use largestOf or smallestOf (runner/extremes.ts), a loop, or [...a, ...b]`,
			);
	});
	return found;
}

/** Visits each call, with the names of rest parameters around it. */
function walk(
	value: unknown,
	rest: ReadonlySet<string>,
	visit: (call: Node, rest: ReadonlySet<string>) => void,
): void {
	if (typeof value !== "object" || value === null) return;
	const node = value as Node;
	const own = (node.params ?? []).flatMap((one) =>
		one.type === "RestElement" ? (one.argument?.name ?? []) : [],
	);
	const names = own.length === 0 ? rest : new Set([...rest, ...own]);
	if (node.type === "CallExpression" || node.type === "NewExpression") visit(node, names);
	for (const child of Object.values(value)) walk(child, names, visit);
}

/** `f.apply(this, list)`; the `apply` of other things has one argument. */
function applies({ callee, arguments: given = [] }: Node): boolean {
	return callee?.property?.name === "apply" && given.length > 1;
}

/**
 * Is its length that of a list in the code? Constants are, and what is made of each of their elements. A rest parameter is as long as the
 * caller's list, and callers are looked at. `argument`: what is no spread is one argument.
 */
function isBounded(node: Node, rest: ReadonlySet<string>, argument = false): boolean {
	const { type, name = "" } = node;
	const within = (one: Node | null | undefined) => one == null || isBounded(one, rest);
	if (type === "SpreadElement") return within(node.argument);
	if (argument) return true;
	if (type === "Identifier") return /^[A-Z_]+$/.test(name) || rest.has(name);
	if (type === "ArrayExpression")
		return (node.elements ?? []).every(
			(one) => one?.type !== "SpreadElement" || isBounded(one, rest),
		);
	if (type === "ConditionalExpression") return within(node.consequent) && within(node.alternate);
	if (type === "CallExpression")
		return node.callee?.property?.name === "map" && isBounded(node.callee.object as Node, rest);
	return (
		(type === "TSAsExpression" || type === "ParenthesizedExpression") && within(node.expression)
	);
}
