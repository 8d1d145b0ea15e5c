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
import { describe, expect, test } from "vitest";
import { leftLock } from "./lock.fake.ts";
import { lockedBy, takeLock, tryLock } from "./lock.ts";
import { ownerText } from "./owner.ts";
import { testFolder } from "./test-folder.fake.ts";

const FAST = { lookMs: 5, beatMs: 20, watchMs: 100 };
const ME = ownerText(process.pid);
/** Another process has got its pid since. */
const GONE = ME.replace(/:\w*@/, ":1@");
const ELSEWHERE = ME.replace(/@\w+/, "@00000000");

const newPlace = () => path.join(testFolder(), "lock");
const leftPlace = (text?: string) => {
	const where = newPlace();
	const file = leftLock(where, GONE);
	if (text !== undefined) writeFileSync(file, text);
	return where;
};
const take = (where: string, stop = new AbortController().signal, onWait = (_: number) => {}) =>
	takeLock(where, stop, onWait, FAST);

test("a lock that nobody has is taken, names pid, start time and boot, and is gone when it is released", async () => {
	const where = newPlace();
	const lock = await take(where);
	const text = readFileSync(path.join(where, "owner"), "utf8");
	expect(JSON.parse(text)).toMatchObject({ owner: ME });
	expect(await lockedBy(where)).toMatchObject({ pid: process.pid, here: true });
	await lock.release();
	expect(await lockedBy(where)).toBe(null);
	expect(readdirSync(path.dirname(where))).toEqual([]);
});

test.each([
	["nobody has", newPlace],
	["a process that is gone has left, whose pid another one has now", () => leftPlace()],
	["was damaged when the power failed", () => leftPlace("")],
])("of twenty that want a lock that %s, one has it at a time", async (_, make) => {
	const where = make();
	let holders = 0;
	let most = 0;
	const turn = async () => {
		const lock = await take(where);
		most = Math.max(most, ++holders);
		await new Promise((resolve) => setTimeout(resolve, 2));
		holders--;
		await lock.release();
	};
	await Promise.all(Array.from({ length: 20 }, turn));
	expect(most).toBe(1);
	expect(readdirSync(path.dirname(where))).toEqual([]);
});

test.each<[string, (where: string) => unknown]>([
	["a link that leads nowhere", (where) => symlinkSync("/nowhere", where)],
	["a file", (where) => writeFileSync(where, "")],
	["a text of another kind", (where) => writeFileSync(leftLock(where, GONE), "{}")],
	[
		"a pipe",
		(where) => {
			mkdirSync(where);
			execFileSync("mkfifo", [path.join(where, "owner")]);
		},
	],
	[
		"a right to remove it that nobody gives back",
		(where) => {
			leftLock(where, GONE);
			leftLock(`${where}.stale`, GONE);
			utimesSync(`${where}.stale`, 1, 1);
		},
	],
])("%s in the place of a lock does not keep anyone waiting", async (_, plant) => {
	const where = newPlace();
	plant(where);
	expect(await lockedBy(where)).toBe(null);
	await (await take(where)).release();
	expect(readdirSync(path.dirname(where))).toEqual([]);
});

describe("a lock", () => {
	test("of a process that lives is refused, or waited for, with its pid told once", async () => {
		const where = newPlace();
		const first = await tryLock(where, "builds");
		expect(await tryLock(where, "builds")).toEqual({
			pid: process.pid,
			doing: "builds",
			here: true,
		});
		const told: number[] = [];
		let second = false;
		const waiting = take(where, undefined, (pid) => void told.push(pid)).then((lock) => {
			second = true;
			return lock;
		});
		await new Promise((resolve) => setTimeout(resolve, 50));
		expect(second).toBe(false);
		if ("release" in first) await first.release();
		await (await waiting).release();
		expect(told).toEqual([process.pid]);
	});

	test("of another machine is taken over only when it has been silent, and the wait for it can be stopped", async () => {
		const where = newPlace();
		const file = leftLock(where, ELSEWHERE);
		// Its clock is an hour behind.
		let at = Date.now() - 3_600_000;
		const living = setInterval(() => utimesSync(file, 0, ++at / 1000), 10);
		const stop = new AbortController();
		const waiting = take(where, stop.signal, () => stop.abort());
		await expect(waiting).rejects.toThrow();
		clearInterval(living);
		await (await take(where)).release();
	});

	test("is kept fresh while it is held", async () => {
		const where = newPlace();
		const lock = await take(where);
		const file = path.join(where, "owner");
		utimesSync(file, 1, 1);
		await expect.poll(() => statSync(file).mtimeMs).toBeGreaterThan(1_000);
		await lock.release();
	});

	test("that another process has now is not released under its feet", async () => {
		const where = newPlace();
		const lock = await take(where);
		leftLock(where, ELSEWHERE);
		await lock.release();
		expect(await lockedBy(where)).toMatchObject({ here: false });
	});

	test("in a folder that does not exist is an error, not a wait", async () => {
		await expect(take("/nowhere/lock")).rejects.toMatchObject({ code: "ENOENT" });
	});
});
