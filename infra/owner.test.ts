import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { isGone, ownerText } from "./owner.ts";

describe("an owner", () => {
	const me = ownerText(process.pid);

	test("is there as long as its process is", () => {
		expect(isGone(me)).toBe(false);
		const { pid } = spawnSync("true");
		expect(isGone(me.replace(/^\d+/, String(pid)))).toBe(true);
	});

	test("is gone when another process has its number", () => {
		expect(isGone(me.replace(/:(\w*)@/, ":1@"))).toBe(true);
	});

	test("is gone when the machine has been started anew", () => {
		expect(isGone(me.replace(/\.\w+\./, ".00000000."))).toBe(true);
	});

	test.each([
		["another machine", /@\w+/, "@00000000"],
		["another container of this machine", /\.\w+$/, ".00000000"],
	])("of %s is none of ours to judge", (_, what, by) => {
		expect(isGone(me.replace(/^\d+/, "1").replace(what, by))).toBe(false);
	});

	test.each(["", "4711", "4711:1", "x:y@z"])(
		"that is written %j is nobody's that we know",
		(text) => expect(isGone(text)).toBe(false),
	);
});
