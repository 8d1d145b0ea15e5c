import { execFileSync } from "node:child_process";
import {
	mkdirSync,
	readdirSync,
	readFileSync,
	statSync,
	symlinkSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import path from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { leftLock } from "./lock.fake.ts";
import { lockedBy, takeLock, tryLock } from "./lock.ts";
import { ownerText } from "./owner.ts";
import { testFolder } from "./test-folder.fake.ts";

const ME = ownerText(process.pid);
/** Another process has got its pid since. */
const GONE = ME.replace(/:\w*@/, ":1@");
const ELSEWHERE = ME.replace(/@\w+/, "@00000000");
const MINUTE = 60_000;

const newPlace = () => path.join(testFolder(), "lock");
const take = (where: string, stop = new AbortController().signal, onWait = (_: number) => {}) =>
	takeLock(where, stop, onWait);

test("a lock that nobody has is taken, names pid, start time and boot, and is gone when it is released", async () => {
	const where = newPlace();
	const lock = await take(where);
	const [name = ""] = readdirSync(where);
	expect(readFileSync(path.join(where, name), "utf8")).toBe(ME);
	expect(await lockedBy(where)).toEqual({ pid: process.pid, here: true });
	await lock.release();
	expect(await lockedBy(where)).toBe(null);
	expect(readdirSync(path.dirname(where))).toEqual([]);
});

test.each<[string, (where: string) => unknown]>([
	["nobody has", () => {}],
	["a process that is gone has left, whose pid another one has now", (at) => leftLock(at, GONE)],
	["was damaged when the power failed", (at) => leftLock(at, "")],
	["is a file", (at) => writeFileSync(at, "")],
])("of twenty that want a lock that %s, one has it at a time", async (_, plant) => {
	const where = newPlace();
	plant(where);
	let holders = 0;
	let most = 0;
	const turn = async () => {
		for (;;) {
			const lock = await tryLock(where);
			if ("release" in lock) {
				most = Math.max(most, ++holders);
				await new Promise((resolve) => setTimeout(resolve, 2));
				holders--;
				return lock.release();
			}
			await new Promise((resolve) => setTimeout(resolve, 5));
		}
	};
	await Promise.all(Array.from({ length: 20 }, turn));
	expect(most).toBe(1);
	expect(readdirSync(path.dirname(where))).toEqual([]);
});

test.each<[string, (where: string, elsewhere: string) => unknown]>([
	["a link that leads nowhere", (where) => symlinkSync("/nowhere", where)],
	["a link to a folder of somebody's", (where, elsewhere) => symlinkSync(elsewhere, where)],
	["a text of another kind", (where) => leftLock(where, "{}")],
	[
		"a pipe",
		(where) => {
			mkdirSync(where);
			execFileSync("mkfifo", [path.join(where, "owner")]);
		},
	],
])("%s in the place of a lock does not keep anyone waiting", async (_, plant) => {
	const where = newPlace();
	const elsewhere = testFolder();
	writeFileSync(path.join(elsewhere, "kept"), "");
	plant(where, elsewhere);
	expect(await lockedBy(where)).toBe(null);
	await (await take(where)).release();
	expect(readdirSync(path.dirname(where))).toEqual([]);
	expect(readdirSync(elsewhere)).toEqual(["kept"]);
});

describe("a lock", () => {
	test("of a process that lives is refused, or waited for, with its pid told once", async () => {
		const where = newPlace();
		const first = await take(where);
		expect(await tryLock(where)).toEqual({ pid: process.pid, here: true });
		const told: number[] = [];
		let second = false;
		const waiting = take(where, undefined, (pid) => void told.push(pid)).then((lock) => {
			second = true;
			return lock;
		});
		await new Promise((resolve) => setTimeout(resolve, 500));
		expect(second).toBe(false);
		await first.release();
		await (await waiting).release();
		expect(told).toEqual([process.pid]);
	});

	test("of another machine is taken over when it was silent for a minute, and the wait for it can be stopped", async () => {
		const where = newPlace();
		leftLock(where, ELSEWHERE, 0.8 * MINUTE);
		expect(await lockedBy(where)).toMatchObject({ here: false });
		const stop = new AbortController();
		await expect(take(where, stop.signal, () => stop.abort())).rejects.toThrow();
		leftLock(where, ELSEWHERE, 1.2 * MINUTE);
		await (await take(where)).release();
	});

	test("shows every few seconds that it is held", async () => {
		vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
		onTestFinished(() => void vi.useRealTimers());
		const where = newPlace();
		const lock = await take(where);
		const [name = ""] = readdirSync(where);
		const file = path.join(where, name);
		utimesSync(file, 1, 1);
		vi.advanceTimersByTime(10_000);
		await expect.poll(() => statSync(file).mtimeMs).toBeGreaterThan(1_000);
		await lock.release();
	});

	test("that another process has now is not released under its feet", async () => {
		const where = newPlace();
		const lock = await take(where);
		const theirs = leftLock(where, ELSEWHERE);
		await lock.release();
		expect(readFileSync(theirs, "utf8")).toBe(ELSEWHERE);
	});

	test("in a folder that does not exist is an error, not a wait", async () => {
		await expect(take("/nowhere/lock")).rejects.toMatchObject({ code: "ENOENT" });
	});
});
