import { describe, expect, test } from "vitest";
import { removed, removedOption } from "./removed.ts";

describe("a word that mqbench took once", () => {
	test.each([[["run", "x.yaml", "--allow-code"]], [["run", "--allow-code=yes", "x.yaml"]]])(
		"%j: what to do instead is said",
		(argv) => {
			expect(removedOption(argv)).toBe(
				"--allow-code no longer exists; mqbench plan lists the programs, files and variables that a scenario uses.",
			);
		},
	);

	test.each([[["run", "x.yaml"]], [["--help"]], [[]]])("%j has none", (argv) => {
		expect(removedOption(argv)).toBeUndefined();
	});

	test("and a word on the prototype is not one", () => {
		expect(removed("constructor")).toBeUndefined();
	});
});
