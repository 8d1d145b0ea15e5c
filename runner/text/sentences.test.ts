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

/** Where sentences are at home, and why: the catalogues, and files that are a text. */
const HOMES: readonly (readonly [RegExp, why: string])[] = [
	[/^runner\/text\//, "the catalogue"],
	[/^runner\/errors\.ts$/, "the catalogue of errors"],
	[/^runner\/explain\//, "the catalogue of explanations, by topic"],
	[/^runner\/(?:document|figures|render|page|watch)\//, "what people are shown, by its builder"],
	[/^runner\/(?:result|compare)\//, "what results and comparisons say in words"],
	[/^runner\/(?:commands|doctor|import|init)\//, "what commands say"],
	[/^runner\/model\/tallies\.ts$/, "what each count is"],
	[/^infra\/cloud\/pulumi-config\.ts$/, "a file of Pulumi, with its comments"],
	[/^infra\/docker\/remove\.ts$/, "its script is for a shell"],
	[/^infra\/aws\//, "a program of its own, which Pulumi runs without mqbench"],
	[/^runner\/bundle\.ts$/, "licences"],
	[/^runner\/chart\/theme\.ts$/, "names of fonts"],
	[
		/^runner\/(?:units|unit-slips|reason|secrets)\.ts$/,
		"stand below the catalogue, whose sentences hold what they format",
	],
	[/^runner\/brokers\//, "rooms: what a broker says of itself"],
	[/^runner\/scenario\/(?:reference|systems-table)\.ts$/, "parts of READMEs"],
	[/^runner\/script\/compile\.ts$/, "the k6 script, with its comments"],
];

/** Documentation of a field stands beside it: the editor's schema and the READMEs are made from both. These calls take it, in which place (model/field.ts). */
const FIELDS: ReadonlyMap<string, number> = new Map([
	...["count", "number", "rate", "span", "warmup", "word"].map((name) => [name, 0] as const),
	["orNull", 1],
]);

/** Calls whose words belong to the command line: commander prints them as `--help`, beside the options that they describe. So are its EXAMPLES. */
const HELP = new Set([
	"description",
	"argument",
	"option",
	"requiredOption",
	"addHelpText",
	"Option",
	"Argument",
]);

describe("sentences outside of the catalogue", () => {
	it("are none", () => {
		const found = shipped().flatMap((file) =>
			sentencesIn(file, readFileSync(path.join(packageFolder, file), "utf8")),
		);
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
					'c.option("-a", "every one of them at once").b("all of it has an end");',
					'throw new Error("the plan names no such system");',
					'span("How long it takes to get there.", ["1s"], { description: "the time that it takes" });',
					"// a comment is not for the user",
				].join("\n"),
			),
		).toEqual([
			"a.ts:1 the queue did not grow",
			"a.ts:2  of the messages were never answered",
			"a.ts:5 all of it has an end",
		]);
	});
});

// --- internal ---

/** All that is shipped, but for the homes of sentences. */
function shipped(): string[] {
	return sources().filter(
		(file) => !/^runner\/(tests|tools)\//.test(file) && !HOMES.some(([home]) => home.test(file)),
	);
}

function sentencesIn(file: string, code: string): string[] {
	const found: string[] = [];
	const walk = (node: unknown): void => {
		if (Array.isArray(node)) node.forEach(walk);
		if (typeof node !== "object" || node === null || Array.isArray(node)) return;
		const { type, value, start, callee, id, key } = node as Node;
		if (type === "Property" && key?.name === "description") return;
		const name = callee?.property?.name ?? callee?.name ?? "";
		// Of a call, its own words; what it is called on may be another one.
		const help = HELP.has(name) || id?.name === "EXAMPLES";
		if (help) walk(callee?.object);
		// A plain Error is printed with its stack, as a bug, to whoever mends it.
		if (help || (type === "NewExpression" && /^(Range)?Error$/.test(name))) return;
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
	/** Of a declaration: what it gives a name. */
	readonly id?: { readonly name?: string } | null;
	/** Of a call: what is called. */
	readonly callee?: {
		readonly name?: string;
		readonly object?: unknown;
		readonly property?: { readonly name?: string };
	};
}
