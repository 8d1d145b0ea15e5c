import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { MqbenchError } from "../errors.ts";
import { loadScenario } from "./load.ts";

/**
 * Wrong scenarios, one mistake each, and what a person reads. Add a block to golden/mistakes.txt (a name, the scenario, a line
 * `---`), run npm run golden, which writes the message below it, and read the diff like a sentence of a book: where it is, what is
 * wrong, what to do.
 */
const golden = new URL("./golden/mistakes.txt", import.meta.url);

const mistakes = readFileSync(golden, "utf8")
	.split(/^=== /m)
	.slice(1)
	.map((block): [name: string, text: string, message: string] => {
		const [, name = "", text = "", message = ""] =
			/^(.*)\n([\s\S]*?)^---\n([\s\S]*)/m.exec(block) ?? [];
		return [name, text, message.trimEnd()];
	});

function complaint(text: string): string {
	const fileBytes = (path: string) => (path === "/scenarios" ? "folder" : null);
	try {
		loadScenario("s.yaml", text, {}, {}, { folder: "/scenarios", platform: "linux", fileBytes });
	} catch (error) {
		if (error instanceof MqbenchError && error.code === "scenario-invalid") return error.message;
		throw error;
	}
	return "(taken)";
}

test.each(mistakes)("%s: one mistake, one sentence, as in the golden file", (_, text, message) => {
	const report = complaint(text);
	if (process.env.UPDATE_GOLDEN !== "1") expect(report).toBe(message);
	expect(report.match(/^s\.yaml:\d+:\d+ /gm)).toHaveLength(1);
	// A remedy: what to write, what is possible, or what it should have been.
	expect(report).toMatch(
		/write |add |remove |did you mean|known:|must |needs? |use |put |give |raise |rename |move |run |begin with|is a map|takes /,
	);
});

test("each has a name of its own", () => {
	expect(mistakes.length).toBeGreaterThan(250);
	expect(new Set(mistakes.map(([name]) => name)).size).toBe(mistakes.length);
	if (process.env.UPDATE_GOLDEN !== "1") return;
	const blocks = mistakes.map(([name, text]) => `=== ${name}\n${text}---\n${complaint(text)}\n`);
	writeFileSync(golden, blocks.join("\n"));
});
