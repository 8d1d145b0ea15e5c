import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { type Kept, keptHere } from "../../infra/kept.ts";
import { leftLock } from "../../infra/lock.fake.ts";
import { ownerText } from "../../infra/owner.ts";
import { testFolder } from "../../infra/test-folder.fake.ts";
import { fakeWorld } from "../world.fake.ts";
import type { World } from "../world.ts";
import { clean } from "./clean.ts";

const HOUR = 3600 * 1000;

/** Keeps two things; with `stays`, the second cannot be removed. */
function keeping({ stays = false, inUse = false } = {}) {
	const removed: string[] = [];
	const one = (where: string, bytes: number | null): Kept => ({
		what: "jars",
		where,
		bytes,
		usedMs: bytes === null ? null : 0,
		inUse,
		remove: async () => {
			if (stays && where === "/b") throw new Error("it is in use");
			removed.push(where);
		},
	});
	const look = async () => ({ kept: [one("/a", 2 ** 20), one("/b", null)], notes: ["A note."] });
	return { removed, look };
}

const world = (ask: ((question: string) => Promise<string>) | null = null) =>
	fakeWorld({ ask, clock: { nowMs: () => 2 * HOUR, monotonicMs: () => 0 } });

describe("mqbench clean", () => {
	test("without anybody to ask shows what there is, and removes nothing", async () => {
		const { removed, look } = keeping();
		const here = world();
		expect(await clean({}, here, look)).toBe(0);
		expect(here.out()).toBe(
			[
				"  jars (1MiB, last used 2h ago): /a",
				"  jars: /b",
				"In all 1MiB.",
				"A note.",
				"Nothing is removed: npx mqbench clean --yes does it.",
				"",
			].join("\n"),
		);
		expect(removed).toEqual([]);
	});

	test.each([
		["y", ["/a", "/b"]],
		["n", []],
	])("asks, and after %s has removed %j", async (answer, gone) => {
		const { removed, look } = keeping();
		expect(
			await clean(
				{},
				world(async () => answer),
				look,
			),
		).toBe(0);
		expect(removed).toEqual(gone);
	});

	test("goes on where something cannot be removed, names it, and exits with 5", async () => {
		const { removed, look } = keeping({ stays: true });
		const here = world();
		expect(await clean({ yes: true }, here, look)).toBe(5);
		expect(removed).toEqual(["/a"]);
		expect(here.err()).toBe("/b could not be removed: it is in use\n");
		// Bytes of what stays do not count.
		expect(here.out()).toContain("Removed: 1, 1MiB.");
	});

	test("leaves what a command may be using, unless all is asked for", async () => {
		const { removed, look } = keeping({ inUse: true });
		const here = world();
		expect(await clean({ yes: true }, here, look)).toBe(0);
		expect(removed).toEqual([]);
		expect(here.out()).toContain("npx mqbench clean --all");
		expect(await clean({ yes: true, all: true }, here, look)).toBe(0);
		expect(removed).toEqual(["/a", "/b"]);
	});

	test("leaves a build that goes on: it holds its lock", async () => {
		const cache = testFolder();
		const part = path.join(cache, "bin", ".0123456789abcdef-aB3xYz");
		const lock = path.join(cache, "bin", "0123456789abcdef.lock");
		mkdirSync(part, { recursive: true });
		const old = new Date(Date.now() - HOUR);
		utimesSync(part, old, old);
		const here = fakeWorld({
			clock: { nowMs: Date.now, monotonicMs: () => 0 },
			env: { MQBENCH_CACHE_DIR: cache, HOME: testFolder(), PATH: "" },
		});
		const inUse = async () => (await keptHere(here)).kept.find((one) => one.where === part)?.inUse;
		expect(await inUse()).toBe(false);
		leftLock(lock, ownerText(process.pid));
		expect(await inUse()).toBe(true);
	});

	test("finds builds, jars and what was fetched in the cache, and leaves nothing of them", async () => {
		const cache = testFolder();
		const make = (...file: string[]) => {
			const where = path.join(cache, ...file);
			mkdirSync(path.dirname(where), { recursive: true });
			writeFileSync(where, file.at(-1) === "build.json" ? BUILD : "x");
		};
		make("bin", "fedcba9876543210", "build.json");
		make("bin", "fedcba9876543210", "k6");
		make("go", "go1.26.8", "bin", "go");
		make("bin", ".0123456789abcdef-aB3xYz", "k6");
		make("jars", "kafka-0123456789abcdef", "a.jar");
		// The user's own file, in a folder given for the cache.
		make("go", "bin", "gofmt");
		make("jars", "mine", "b.jar");
		make("bin", "tool", "x");
		make("calibrations", "a-b.json");
		const here = fakeWorld({ env: { MQBENCH_CACHE_DIR: cache, HOME: testFolder(), PATH: "" } });
		// Other tests may have left something in the temporary folder.
		const own = async (world: World) => {
			const { kept, notes } = await keptHere(world);
			return { kept: kept.filter((one) => one.where.startsWith(cache)), notes };
		};
		expect(await clean({ yes: true, all: true }, here, own)).toBe(0);
		for (const words of [
			"built: k6 for linux/amd64",
			"a Go that was fetched",
			"a build that was killed",
			"jars of a broker",
			"Docker does not answer",
		])
			expect(here.out()).toContain(words);
		const left = ["bin", "go", "jars", "calibrations"].flatMap((name) =>
			readdirSync(path.join(cache, name)),
		);
		expect(left).toEqual(["tool", "bin", "mine", "a-b.json"]);
	});
});

const BUILD = JSON.stringify({
	schema: 1,
	go: "go1.26.8",
	mqbench: "1.2.3",
	sha256: { k6: "0" },
	platform: "linux/amd64",
});
