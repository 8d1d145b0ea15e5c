import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { testFolder } from "../test-folder.fake.ts";
import { consolesOf } from "./consoles.ts";

function scene(console: (host: string) => Promise<string>) {
	const folder = path.join(testFolder(), "run");
	const said: string[] = [];
	const asked: string[] = [];
	const consoles = consolesOf(
		{
			console(host) {
				asked.push(host);
				return console(host);
			},
		},
		folder,
		(line) => void said.push(line),
	);
	const file = path.join(folder, "console-203.0.113.1.log");
	return { folder, said, asked, consoles, file };
}

test("the console of a host that does not come up is stored, and its end is told, without secrets", async () => {
	const lines = Array.from({ length: 30 }, (_, i) => `[${i}.0] line ${i}`);
	const { said, asked, consoles, file } = scene(
		async () => `${lines.join("\r\n")}\r
\x1b[0;1;31mFailed\x1b[0m to start networking
export DB_PASSWORD=hunter2
git clone https://me:hunter3@example.com/x
-----BEGIN OPENSSH PRIVATE KEY-----
hunter4
-----END OPENSSH PRIVATE KEY-----
Kernel panic - not syncing\r\n`,
	);
	// Each run waits for it anew.
	await Promise.all([consoles.fetch("203.0.113.1"), consoles.fetch("203.0.113.1")]);
	expect(asked).toEqual(["203.0.113.1"]);
	// The folder of runs without a single run is removed before.
	expect(existsSync(file)).toBe(false);
	await consoles.keep();
	const text = readFileSync(file, "utf8");
	expect(text).toContain("[0.0] line 0\n");
	expect(text).toContain("\nFailed to start networking\n");
	expect(said[0]).toBe(`203.0.113.1 did not come up. The end of its console (all of it: ${file}):`);
	expect(said.at(-1)).toBe("  Kernel panic - not syncing");
	expect(said).toHaveLength(13);
	expect(text + said.join("\n")).not.toMatch(/hunter/);
});

test("a console that is empty, or that AWS does not give, is said so", async () => {
	const { said, consoles, folder } = scene(async (host) => {
		if (host === "203.0.113.2") throw new Error("UnauthorizedOperation.");
		return "";
	});
	await consoles.fetch("203.0.113.1");
	await consoles.fetch("203.0.113.2");
	await consoles.keep();
	expect(said).toEqual([
		"203.0.113.1 did not come up, and has written nothing to its console.",
		"203.0.113.2 did not come up, and AWS did not give its console (UnauthorizedOperation).",
	]);
	expect(existsSync(folder)).toBe(false);
});
