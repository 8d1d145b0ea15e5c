import { readdirSync } from "node:fs";
import os from "node:os";
import { expect, onTestFinished, test, vi } from "vitest";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { freshMemory } from "./fresh-memory.ts";

const plan = (bytes: number, messages: number, { target = "local", server = true } = {}) =>
	({ target, server, message: { bytes }, schedule: { messages } }) as Parameters<
		typeof freshMemory
	>[0];
const large = plan(1 << 20, 1000);
const times = (...parts: readonly [count: number, us: number][]) =>
	parts.flatMap(([count, us]) => new Array<number>(count).fill(us * 1000));

test("is what a MiB of new memory takes longer than the same again", () => {
	const fresh = times([64, 200], [16, 2300]);
	expect(freshMemory(large, () => [fresh, times([16, 200])])).toBe(2_100_000);
});

test("is nothing where new memory is as fast, and never less", () => {
	const level = times([512, 200]);
	expect(freshMemory(large, () => [level, times([16, 200])])).toBe(0);
	expect(freshMemory(large, () => [level, times([16, 300])])).toBe(0);
});

test("a core that is taken away for some of the writes does not look like it", () => {
	const fresh = level(64, 200, (i) => i % 8 === 0);
	expect(freshMemory(large, () => [fresh, times([16, 200])])).toBe(0);
});

test.each([
	["there are few bytes", plan(1024, 1000)],
	["the broker is elsewhere", plan(1 << 20, 1000, { target: "existing" })],
	["it is in a container", plan(1 << 20, 1000, { target: "docker" })],
	["there is none, as in a floor", plan(1 << 20, 1000, { server: false })],
])("is not measured where %s", (_, asked) => {
	expect(
		freshMemory(asked, () => {
			throw new Error("measured");
		}),
	).toBeNull();
});

test("is not known where the disk is full", () => {
	expect(freshMemory(large, () => [[], []])).toBeNull();
	const full = () => {
		throw Object.assign(new Error("full"), { code: "ENOSPC" });
	};
	expect(freshMemory(large, full)).toBeNull();
});

test("is measured on this machine, and leaves nothing behind", () => {
	const folder = testFolder();
	vi.stubEnv("TMPDIR", folder);
	onTestFinished(() => void vi.unstubAllEnvs());
	expect(os.tmpdir()).toBe(folder);
	expect(freshMemory(large)).toBeGreaterThanOrEqual(0);
	expect(readdirSync(folder)).toEqual([]);
});

function level(count: number, us: number, isTaken: (i: number) => boolean): number[] {
	return Array.from({ length: count }, (_, i) => (isTaken(i) ? 20_000 : us) * 1000);
}
