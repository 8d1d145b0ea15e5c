import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";

/**
 * A test for each block of a golden text: `=== name`, the input, a line `---`, the answer. Add a block without an answer and run npm run
 * golden, which writes it; `also` checks every answer.
 */
export function goldenBlocks(
	golden: URL,
	answer: (given: string) => string | Promise<string>,
	also: (found: string) => void = () => {},
): void {
	const blocks = readFileSync(golden, "utf8")
		.split(/^=== /m)
		.slice(1)
		.map((block) => {
			const [, name = "", given = "", expected = ""] =
				/^(.*)\n([\s\S]*?)^---\n([\s\S]*)/m.exec(block) ?? [];
			return { name, given, expected: expected.trimEnd() };
		});

	test.each(blocks)("$name", async ({ given, expected }) => {
		const found = await answer(given);
		if (process.env.UPDATE_GOLDEN !== "1") expect(found).toBe(expected);
		also(found);
	});

	test("each has a name of its own, and is written as golden texts are", async () => {
		const names = blocks.map(({ name }) => name);
		expect(names.filter((name, i) => name === "" || names.indexOf(name) < i)).toEqual([]);
		const text = await Promise.all(
			blocks.map(async ({ name, given }) => `=== ${name}\n${given}---\n${await answer(given)}\n`),
		);
		if (process.env.UPDATE_GOLDEN === "1") writeFileSync(golden, text.join("\n"));
		expect(text.join("\n")).toBe(readFileSync(golden, "utf8"));
	});
}
