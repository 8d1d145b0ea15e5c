import { describe, expect, test } from "vitest";
import { wrapped } from "./head.ts";

describe("a text in lines of so many letters", () => {
	test.each([
		["one two three", 7.9, ["one two", "three"]],
		["one two three", 13, ["one two three"]],
		["a_word_that_is_longer than", 8, ["a_word_t", "hat_is_l", "onger", "than"]],
		["\u{1F407}\u{1F407}\u{1F407}", 2, ["\u{1F407}\u{1F407}", "\u{1F407}"]],
		["", 8, []],
	])("%j, %d: %j", (text, letters, lines) => {
		expect(wrapped(text, letters)).toEqual(lines);
	});
});
