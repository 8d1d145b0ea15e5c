import { spawn } from "node:child_process";
import {
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	statSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { testFolder } from "../test-folder.fake.ts";
import { takeLock } from "./lock.ts";

const FAST = { lookMs: 5, beatMs: 20, silentMs: 500 };

/** A lock that somebody left: who, and how many ms ago it was last heard of. */
function left(who: string | null, agoMs = 0): string {
	const where = path.join(testFolder(), "lock");
	mkdirSync(where);
	const pid = path.join(where, "pid");
	if (who !== null) writeFileSync(pid, who);
	const then = new Date(Date.now() - agoMs);
	utimesSync(who === null ? where : pid, then, then);
	return where;
}

const take = (
	where: string,
	stop = new AbortController().signal,
	onWait = (_: number | null) => {},
) => takeLock(where, stop, onWait, FAST);

test("a lock that nobody holds is taken, and gone when it is released", async () => {
	const where = path.join(testFolder(), "lock");
	const lock = await take(where);
	expect(readFileSync(path.join(where, "pid"), "utf8")).toMatch(
		new RegExp(`^${process.pid} `),
	);
	await lock.release();
	expect(readdirSync(path.dirname(where))).toEqual([]);
});

test("twenty that want it at once hold it one after the other", async () => {
	const where = path.join(testFolder(), "lock");
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
});

test("twenty that find a stale lock hold it one after the other", async () => {
	const where = left(`${await deadPid()} ${hostname()} x`);
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

describe("a lock", () => {
	test("of a process that lives is waited for, and its pid told once", async () => {
		const where = path.join(testFolder(), "lock");
		const first = await take(where);
		const told: (number | null)[] = [];
		let second = false;
		const waiting = take(where, undefined, (pid) => void told.push(pid)).then(
			(lock) => {
				second = true;
				return lock;
			},
		);
		await new Promise((resolve) => setTimeout(resolve, 50));
		expect(second).toBe(false);
		await first.release();
		await (await waiting).release();
		expect(told).toEqual([process.pid]);
	});

	test("is told with its pid though it is there before its pid is", async () => {
		const where = left(null);
		const stop = new AbortController();
		const told: (number | null)[] = [];
		const waiting = takeLock(
			where,
			stop.signal,
			(pid) => {
				told.push(pid);
				stop.abort();
			},
			{ ...FAST, lookMs: 1000, silentMs: 60_000 },
		);
		// The first look was before.
		await new Promise((resolve) => setTimeout(resolve, 50));
		writeFileSync(path.join(where, "pid"), `${process.pid} ${hostname()} x`);
		await expect(waiting).rejects.toThrow();
		expect(told).toEqual([process.pid]);
	});

	test("without a pid is waited for too", async () => {
		const stop = new AbortController();
		const told: (number | null)[] = [];
		const tell = (pid: number | null) => {
			told.push(pid);
			stop.abort();
		};
		const patient = { ...FAST, silentMs: 60_000 };
		const waiting = takeLock(left(null), stop.signal, tell, patient);
		await expect(waiting).rejects.toThrow();
		expect(told).toEqual([null]);
	});

	test("of a process of this machine that is gone is taken over", async () => {
		const where = left(`${await deadPid()} ${hostname()} x`);
		await (await take(where)).release();
	});

	test("of another machine is taken over only when it has been silent", async () => {
		const silent = left("1 elsewhere x", 10_000);
		await (await take(silent)).release();

		const busy = left("1 elsewhere x");
		const stop = new AbortController();
		const told: (number | null)[] = [];
		const waiting = take(busy, stop.signal, (pid) => {
			told.push(pid);
			stop.abort();
		});
		await expect(waiting).rejects.toThrow();
		expect(told).toEqual([1]);
		expect(existsSync(busy)).toBe(true);
	});

	test("without a pid is taken over when it is old: its maker died on the way", async () => {
		const where = left(null, 10_000);
		await (await take(where)).release();
	});

	test("is kept fresh while it is held", async () => {
		const where = path.join(testFolder(), "lock");
		const lock = await take(where);
		const pid = path.join(where, "pid");
		const then = new Date(Date.now() - 60_000);
		utimesSync(pid, then, then);
		await expect
			.poll(() => Date.now() - statSync(pid).mtimeMs)
			.toBeLessThan(30_000);
		await lock.release();
	});

	test("that was lost to another is not released under its feet", async () => {
		const where = path.join(testFolder(), "lock");
		const lock = await take(where);
		writeFileSync(path.join(where, "pid"), "1 elsewhere other");
		await lock.release();
		expect(existsSync(where)).toBe(true);
	});

	test("in a folder that does not exist is an error, not a wait", async () => {
		await expect(take("/nowhere/lock")).rejects.toMatchObject({
			code: "ENOENT",
		});
	});
});

// --- internal ---

async function deadPid(): Promise<number> {
	const child = spawn("true");
	await new Promise((resolve) => child.once("close", resolve));
	return child.pid ?? 0;
}
