import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { answerOf } from "./program-answer.ts";
import { testFolder } from "./test-folder.fake.ts";

const sh = (script: string, longestMs = 60_000) => answerOf("sh", ["-c", script], { longestMs });

test("is what a program writes to stdout, in its folder and environment, without input", async () => {
	const cwd = testFolder();
	const env = { PATH: process.env.PATH, WORD: "ü" };
	const script = 'cat; pwd; echo "$WORD"; echo no >&2';
	const asked = { cwd, env, longestMs: 60_000 };
	expect(await answerOf("sh", ["-c", script], asked)).toBe(`${cwd}\nü\n`);
});

test("is none of a program that fails, or that cannot be started, whatever the reason", async () => {
	expect(await sh("echo half; exit 3")).toBeNull();
	const longestMs = 60_000;
	expect(await answerOf("/nowhere/git", [], { longestMs })).toBeNull();
	const file = path.join(testFolder(), "file");
	writeFileSync(file, "");
	// ENOTDIR, which Node throws in place of an event.
	const env = { PATH: file };
	expect(await answerOf("git", [], { env, longestMs })).toBeNull();
});

test("is none of one that takes long, though what it has started holds its output", async () => {
	const began = performance.now();
	expect(await sh("echo half; sleep 20 & wait", 100)).toBeNull();
	expect(performance.now() - began).toBeLessThan(30_000);
});

test("is whole though mqbench stood still for longer than it may take", async () => {
	const answer = sh("echo whole", 300);
	const until = performance.now() + 1000;
	while (performance.now() < until);
	expect(await answer).toBe("whole\n");
});

test("is none of one that writes without end, and nothing of what is on stderr", async () => {
	expect(await sh("yes")).toBeNull();
	expect(await sh("head -c 4000000 /dev/zero >&2; echo said")).toBe("said\n");
});
