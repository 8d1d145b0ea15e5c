import { expect, test } from "vitest";
import { type Amount, amount, show, showInterval } from "./show.ts";

test.each<[string, Amount]>([
	["12.4ms", amount(12_400_000, "ns")],
	["~12.4ms", { ...amount(12_400_000, "ns"), weak: true }],
	["> 30s", { ...amount(30e9, "ns"), atLeast: true, weak: true }],
	["36 887", amount(36_887, "messages")],
	["1 000/s", amount(1000, "messages/s")],
	["0.35", amount(0.3512, "cores")],
	["0s", amount(0, "ns")],
	["n/a", amount(null, "ns")],
	["n/a", amount(undefined, "messages")],
	["n/a", { ...amount(null, "ns"), why: "few-samples" }],
	["stopped", { ...amount(null, "ns"), why: "stopped" }],
])("%s", (text, of) => {
	expect(show(of)).toBe(text);
});

test("the head of a column may say the unit", () => {
	expect(show({ ...amount(1000, "messages/s"), bare: true })).toBe("1 000");
	expect(show({ ...amount(1e6, "ns"), bare: true })).toBe("1ms");
});

test("an interval may have no upper end, or not be there", () => {
	expect(showInterval({ low: 11e6, high: 14.9e6 })).toBe("[11ms, 14.9ms]");
	expect(showInterval({ low: 3e6, high: null })).toBe("[3ms, \u221e]");
	expect(showInterval({ low: null, high: null })).toBe("");
	expect(showInterval(amount(1, "ns"))).toBe("");
});
