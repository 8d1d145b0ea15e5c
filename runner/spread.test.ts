import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { packageFolder } from "./package.ts";
import { nodesOf, sources } from "./sources.fake.ts";

/** Bounded lists: a literal, one of two, a constant, or rest parameters, as long as their callers' lists. */
const BOUNDED = /^\.\.\.(?:\(?\[|\([^()]+\? |[A-Z_]+\b|\(?(?:values|more|problems)\b)/;

/** Some 120 000 arguments overflow the stack, and a run of 3.4 hours has more samples. */
test("no data is spread into a call", () => {
	const shipped = sources().filter((file) => !/^runner\/(tests|tools)\//.test(file));
	const read = (file: string) => readFileSync(path.join(packageFolder, file), "utf8");
	expect(shipped.flatMap((file) => spreads(file, read(file)))).toEqual([]);
});

test("it would be found in each kind of call, and lists in the code would not", () => {
	const code = `Math.max(0, ...data);
		all.push(...data.map(String));
		new Array(...data);
		all.push(...["a"], ...(one ? ["b"] : []), ...LEVELS.map(String));
		const both = [...data, ...data];`;
	expect(spreads("a.ts", code)).toEqual(
		[1, 2, 3].map(
			(line) =>
				`a.ts:${line} hands data to a call as arguments; use largestOf or smallestOf (runner/extremes.ts), a loop, or [...a, ...b]`,
		),
	);
});

// --- internal ---

function spreads(file: string, code: string): string[] {
	return nodesOf(code)
		.flatMap(({ arguments: given }) => given ?? [])
		.filter(
			({ type, start, end }) => type === "SpreadElement" && !BOUNDED.test(code.slice(start, end)),
		)
		.map(
			({ start }) =>
				`${file}:${code.slice(0, start).split("\n").length} hands data to a call as arguments; use largestOf or smallestOf (runner/extremes.ts), a loop, or [...a, ...b]`,
		);
}
