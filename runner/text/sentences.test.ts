import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseAst } from "rolldown/parseAst";
import { describe, expect, it } from "vitest";
import { packageFolder } from "../package.ts";

/**
 * A sentence, told by a heuristic: a string or template with five words in a row, each of letters (and an apostrophe), one space apart. What
 * is put into a template ends a row. Comments, types, imports, tests, fakes and brokers' documents are not looked at; texts of fewer words
 * (labels, column heads, names of checks) are not found, nor is a sentence that is put together from such pieces.
 */
const SENTENCE = /[a-z']+(?:,? [a-z']+){4}/i;

/** Where sentences are at home: the catalogues. */
const HOME = /^runner\/(?:text\/|errors\.ts$)/;

const COUNTS = fileURLToPath(new URL("sentences.json", import.meta.url));

/** Sentences outside of the catalogue, by folder: an exception each. They may only become fewer. */
describe("sentences outside of the catalogue", () => {
	const counts = new Map<string, string[]>();
	for (const file of sources())
		for (const found of sentencesIn(
			file,
			readFileSync(path.join(packageFolder, file), "utf8"),
		)) {
			const [folder = ""] =
				/^(?:runner|infra)(?:\/[^/]+(?=\/))?/.exec(file) ?? [];
			counts.set(folder, [...(counts.get(folder) ?? []), found]);
		}
	const now = Object.fromEntries(
		[...counts].map(([folder, all]) => [folder, all.length]).sort(),
	);
	if (process.env.UPDATE_GOLDEN === "1") lower(now);
	const allowed: Record<string, number> = JSON.parse(
		readFileSync(COUNTS, "utf8"),
	);

	it.each(Object.keys({ ...allowed, ...now }))(
		"become fewer in %s",
		(folder) => {
			const [most = 0, found = []] = [allowed[folder], counts.get(folder)];
			expect(
				found.length,
				`${folder} has ${found.length} sentences of its own, ${most} may be: give a new one a code in runner/text/ and say() it. All of them:\n${found.join("\n")}`,
			).toBeLessThanOrEqual(most);
		},
	);

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
					"// a comment is not for the user",
				].join("\n"),
			),
		).toEqual([
			"a.ts:1 the queue did not grow",
			"a.ts:2  of the messages were never answered",
		]);
	});
});

// --- internal ---

/** UPDATE_GOLDEN=1 writes down what has become fewer, never what has become more. */
function lower(now: Readonly<Record<string, number>>): void {
	const before: Record<string, number> = JSON.parse(
		readFileSync(COUNTS, "utf8"),
	);
	const after = Object.entries(before).map(([folder, n]) => [
		folder,
		Math.min(n, now[folder] ?? 0),
	]);
	writeFileSync(
		COUNTS,
		`${JSON.stringify(Object.fromEntries(after.filter(([, n]) => n !== 0)), null, "\t")}\n`,
	);
}

function sources(): string[] {
	return ["runner", "infra"]
		.flatMap((top) =>
			readdirSync(path.join(packageFolder, top), { recursive: true }).map(
				(file) => path.posix.join(top, String(file).replaceAll("\\", "/")),
			),
		)
		.filter(
			(file) =>
				file.endsWith(".ts") &&
				!HOME.test(file) &&
				!/\.(test|fake|config|d)\.ts$|\/node_modules\/|\/fixtures\/|^runner\/tests\//.test(
					file,
				),
		);
}

function sentencesIn(file: string, code: string): string[] {
	const found: string[] = [];
	const walk = (node: unknown): void => {
		if (Array.isArray(node)) node.forEach(walk);
		if (typeof node !== "object" || node === null || Array.isArray(node))
			return;
		const { type, value, start } = node as Node;
		const text =
			type === "Literal" && typeof value === "string"
				? value
				: type === "TemplateElement"
					? String((value as { readonly raw: string }).raw)
					: "";
		if (SENTENCE.test(text))
			found.push(`${file}:${code.slice(0, start).split("\n").length} ${text}`);
		Object.values(node).forEach(walk);
	};
	walk(parseAst(code, { lang: "ts" }));
	return found;
}

interface Node {
	readonly type?: string;
	readonly value?: unknown;
	readonly start?: number;
}
