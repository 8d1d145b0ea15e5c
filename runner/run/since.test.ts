import { expect, test } from "vitest";
import { sinceT0 } from "./since.ts";

test("T0 is told by the wall clock, which is read once: who sets it later moves nothing", () => {
	const now = { wallMs: 1_800_000_000_250, monotonicMs: 7000 };
	const since = sinceT0(1_800_000_000_000, {
		nowMs: () => now.wallMs,
		monotonicMs: () => now.monotonicMs,
	});
	expect(since()).toBe(250);
	now.monotonicMs += 100;
	now.wallMs -= 3_600_000;
	expect(since()).toBe(350);
});

test("before T0 it is below 0", () => {
	const clock = { nowMs: () => 5000, monotonicMs: () => 10 };
	expect(sinceT0(6000, clock)()).toBe(-1000);
});
