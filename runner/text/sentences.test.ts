import { readFileSync } from "node:fs";
import path from "node:path";
import { parseAst } from "rolldown/parseAst";
import { describe, expect, it } from "vitest";
import { packageFolder } from "../package.ts";
import { sources } from "../sources.fake.ts";

/**
 * A sentence, told by a heuristic: a string or template with five words in a row, each of letters (and an apostrophe), one space apart. What
 * is put into a template ends a row. Comments, types, imports, tests, fakes and brokers' documents are not looked at; texts of fewer words
 * (labels, column heads, names of checks) are not found, nor is a sentence that is put together from such pieces.
 */
const SENTENCE = /[a-z']+(?:,? [a-z']+){4}/i;

/** Mistakes, which `validate --json` prints with their code. */
const CODED = /^runner\/scenario\//;
/** Parts of READMEs. */
const README = /^runner\/scenario\/reference\.ts$/;

/** Documentation of a field stands beside it: the editor's schema and the READMEs are made from both. These calls take it, in which place (model/field.ts). */
const FIELDS: ReadonlyMap<string, number> = new Map([
	...["count", "number", "rate", "span", "warmup", "word"].map((name) => [name, 0] as const),
	["orNull", 1],
]);

describe("sentences of mistakes", () => {
	it("stand in the catalogue, each with a code", () => {
		const found = sources()
			.filter((file) => CODED.test(file) && !README.test(file))
			.flatMap((file) => sentencesIn(file, readFileSync(path.join(packageFolder, file), "utf8")));
		expect(found, "give each a code in runner/text/, and say() or tell() it").toEqual([]);
	});

	it("would be found in strings and templates, and not in what is no sentence", () => {
		expect(
			sentencesIn(
				"a.ts",
				[
					'const a = "the queue did not grow";',
					// biome-ignore lint/suspicious/noTemplateCurlyInString: it is code.
					"const b = `${a} of the messages were never answered`;",
					// biome-ignore lint/suspicious/noTemplateCurlyInString: it is code.
					"const c = `at most ${a} of ${a} may`;",
					'const d = "warm-up";',
					'throw new Error("the plan names no such system");',
					'span("How long it takes to get there.", ["1s"], { description: "the time that it takes" });',
					"// a comment is not for the user",
				].join("\n"),
			),
		).toEqual(["a.ts:1 the queue did not grow", "a.ts:2  of the messages were never answered"]);
	});
});

// --- internal ---

function sentencesIn(file: string, code: string): string[] {
	const found: string[] = [];
	const walk = (node: unknown): void => {
		if (Array.isArray(node)) node.forEach(walk);
		if (typeof node !== "object" || node === null || Array.isArray(node)) return;
		const { type, value, start, callee, key } = node as Node;
		if (type === "Property" && key?.name === "description") return;
		const name = callee?.property?.name ?? callee?.name ?? "";
		// A plain Error is printed with its stack, as a bug, to whoever mends it.
		if (type === "NewExpression" && /^(Range)?Error$/.test(name)) return;
		const text =
			type === "Literal" && typeof value === "string"
				? value
				: type === "TemplateElement"
					? String((value as { readonly raw: string }).raw)
					: "";
		if (SENTENCE.test(text))
			found.push(`${file}:${code.slice(0, start).split("\n").length} ${text}`);
		const place = FIELDS.get(name);
		const others = (node as Node).arguments?.filter((_, i) => i !== place);
		Object.values(place === undefined ? node : (others ?? node)).forEach(walk);
	};
	walk(parseAst(code, { lang: "ts" }));
	return found;
}

interface Node {
	readonly type?: string;
	readonly value?: unknown;
	readonly start?: number;
	readonly arguments?: readonly unknown[];
	/** Of a property. */
	readonly key?: { readonly name?: string };
	/** Of a call: what is called. */
	readonly callee?: {
		readonly name?: string;
		readonly property?: { readonly name?: string };
	};
}
