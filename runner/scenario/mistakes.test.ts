import { expect } from "vitest";
import { MqbenchError } from "../errors.ts";
import { goldenBlocks } from "../tests/golden.fake.ts";
import { loadScenario } from "./load.ts";
import type { Overrides } from "./overrides.ts";

const FILES: Readonly<Record<string, string>> = {
	"/scenarios/blank.txt": "\n \n",
	"/scenarios/words.txt": "256\n1KiB\nhunter2 is big\n",
	"/scenarios/small.txt": "256\n40\n",
};

function refusal(
	text: string,
	{
		env = {},
		platform = "linux",
		...overrides
	}: Overrides & { env?: Record<string, string>; platform?: string } = {},
): string {
	const fileBytes = (path: string) =>
		path === "/scenarios" ? "folder" : (FILES[path]?.length ?? null);
	const surroundings = { folder: "/scenarios", platform, fileBytes };
	const fileText = (path: string) => FILES[path] ?? "";
	try {
		loadScenario("s.yaml", text, overrides, env, { ...surroundings, fileText });
	} catch (error) {
		if (error instanceof MqbenchError && error.code === "scenario-invalid") return error.message;
		throw error;
	}
	return "(taken)";
}

/** One mistake, and a remedy: what to write, what is possible, or what it should have been. */
function isHelpful(found: string): void {
	expect(found).not.toContain("hunter2");
	expect(found.match(/^(s\.yaml:\d+:\d+ |--\w+)/gm)).toHaveLength(1);
	expect(found).toMatch(
		/write |add |remove |did you mean|known:|must |needs? |use |put |give |raise |rename |move |run |begin with|is a map|takes /,
	);
}

/** Wrong scenarios with one mistake each and their messages. Read a diff aloud: where it is, what is wrong, what to write. */
goldenBlocks(new URL("./golden/mistakes.txt", import.meta.url), (text) => refusal(text), isHelpful);

/** A block's first line has its command line or environment. */
goldenBlocks(
	new URL("./golden/command-line.txt", import.meta.url),
	(block) => {
		const [options = "", ...lines] = block.split("\n");
		return refusal(lines.join("\n"), JSON.parse(options));
	},
	(found) => {
		isHelpful(found);
		expect(({} as { polluted?: number }).polluted).toBeUndefined();
	},
);
