import { describe, expect, test } from "vitest";
import { terminalLook } from "./look.ts";

const look = (env: Record<string, string>, isTTY = true) =>
	terminalLook({ isTTY, columns: 100, rows: 30, write() {} }, env);

describe("colour", () => {
	test.each([
		["on a terminal", {}, true, true],
		["not in a file", {}, false, false],
		["not with NO_COLOR", { NO_COLOR: "1" }, true, false],
		["with an empty NO_COLOR, as no-color.org says", { NO_COLOR: "" }, true, true],
		["not on a dumb terminal", { TERM: "dumb" }, true, false],
		["in a file that is to have it", { FORCE_COLOR: "1" }, false, true],
		["as Node does when both are set", { FORCE_COLOR: "1", NO_COLOR: "1" }, true, true],
		["not with FORCE_COLOR=0", { FORCE_COLOR: "0" }, true, false],
	] as const)("%s", (_, env, isTTY, colour) => {
		expect(look(env, isTTY).colour).toBe(colour);
	});
});

test("lines are rewritten on a terminal that can, and nowhere else", () => {
	expect(look({}).movable).toBe(true);
	expect(look({ TERM: "dumb" }).movable).toBe(false);
	expect(look({}, false).movable).toBe(false);
	// Forced colour does not make the cursor movable.
	expect(look({ FORCE_COLOR: "1" }, false).movable).toBe(false);
});
