import { mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, test } from "vitest";
import { openBoundedLog } from "./bounded-log.ts";

const folder = () => mkdtempSync(path.join(tmpdir(), "mqbench-log-"));
const lineOf = (i: number) => `line ${String(i).padStart(94, "0")}`;

test("a log keeps its beginning and its end, and says how many lines between them it left out", async () => {
	const file = path.join(folder(), "broker.log");
	const log = openBoundedLog(file, 10_000);
	for (let i = 0; i < 1234; i++) log.write(lineOf(i));
	await log.close();
	const lines = readFileSync(file, "utf8").trimEnd().split("\n");
	// Parts of 100 lines of 100 bytes: the first, the last whole one, and the last 34 lines are kept.
	expect(lines.slice(0, 100)).toEqual(Array.from({ length: 100 }, (_, i) => lineOf(i)));
	expect(lines[100]).toBe("mqbench: 1 000 lines (100KB) left out here");
	expect(lines.slice(101)).toEqual(Array.from({ length: 134 }, (_, i) => lineOf(1100 + i)));
	expect(statSync(file).size).toBeLessThan(3 * 10_000);
	expect(readdirSync(path.dirname(file))).toEqual(["broker.log"]);
});

test("a short log is whole, one that was never written to does not exist, and a log that is opened again goes on", async () => {
	const file = path.join(folder(), "client-0.log");
	await openBoundedLog(file).close();
	expect(readdirSync(path.dirname(file))).toEqual([]);
	for (const text of ["one", "two"]) {
		const log = openBoundedLog(file);
		log.write(text);
		await log.close();
	}
	expect(readFileSync(file, "utf8")).toBe("one\ntwo\n");
});

test("a full disk or a folder that is gone ends nothing", async () => {
	const log = openBoundedLog(path.join(folder(), "none", "broker.log"), 100);
	for (let i = 0; i < 10; i++) log.write(lineOf(i));
	await log.close();
});
