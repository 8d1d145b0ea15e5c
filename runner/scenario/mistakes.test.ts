import { expect } from "vitest";
import { MqbenchError } from "../errors.ts";
import { goldenBlocks } from "../tests/golden.fake.ts";
import { loadScenario } from "./load.ts";

/**
 * Wrong scenarios, one mistake each, and what a person reads: golden/mistakes.txt. Read its diff like a sentence of a book: where it
 * is, what is wrong, what to do.
 */
goldenBlocks(
	new URL("./golden/mistakes.txt", import.meta.url),
	(text) => {
		const fileBytes = (path: string) => (path === "/scenarios" ? "folder" : null);
		try {
			loadScenario("s.yaml", text, {}, {}, { folder: "/scenarios", platform: "linux", fileBytes });
		} catch (error) {
			if (error instanceof MqbenchError && error.code === "scenario-invalid") return error.message;
			throw error;
		}
		return "(taken)";
	},
	(found) => {
		expect(found.match(/^s\.yaml:\d+:\d+ /gm)).toHaveLength(1);
		// A remedy: what to write, what is possible, or what it should have been.
		expect(found).toMatch(
			/write |add |remove |did you mean|known:|must |needs? |use |put |give |raise |rename |move |run |begin with|is a map|takes /,
		);
	},
);
