import { expect, test } from "vitest";
import { didYouMean, suggest } from "./suggest.ts";

const known = ["rate", "message", "duration", "warmup", "inFlight"];

test.each([
	["raet", "rate"],
	["durration", "duration"],
	["Message", "message"],
	["inflight", "inFlight"],
	["warm-up", "warmup"],
	["banana", undefined],
	["", undefined],
])("takes %j for %j", (word, guess) => {
	expect(suggest(word, known)).toBe(guess);
});

test("lists the known words when none is near", () => {
	expect(didYouMean("raet", known)).toBe("; did you mean rate?");
	expect(didYouMean("banana", ["rate", "message"])).toBe("; known: rate, message");
	expect(didYouMean("banana", [])).toBe("");
});
