import { expect, test } from "vitest";
import { crowdedHere, patience } from "./patience.ts";

const open = new AbortController().signal;

test("a start may take longer while the machine is crowded, and no longer than that", async () => {
	const beganMs = performance.now();
	expect(await patience(20, open, () => 4)).toBe(80);
	expect(performance.now() - beganMs).toBeGreaterThanOrEqual(79);
	let asked = 0;
	// It was crowded as the start began, and is no more.
	expect(await patience(10, open, () => (asked++ === 0 ? 3 : 2))).toBe(20);
	expect(asked).toBe(2);
});

test("a stop ends the wait", async () => {
	await expect(patience(60_000, AbortSignal.abort(), () => 1)).rejects.toThrow();
});

test("of this machine it is a factor from 1 to 4", () => {
	expect(crowdedHere()).toBeGreaterThanOrEqual(1);
	expect(crowdedHere()).toBeLessThanOrEqual(4);
});
