import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
	filesOf,
	freePort,
	measured,
	resultOf,
	run,
	scenario,
	script,
	start,
	temporaryFolder,
} from "./mqbench.ts";

test("a port that is taken spoils its own system only", { tags: "long" }, async () => {
	const port = await freePort();
	const server = createServer().listen(port, "127.0.0.1");
	onTestFinished(() => void server.close());
	const systems = `{ taken: { broker: nats, port: ${port} }, free: nats }`;
	const { result } = await measured({}, { system: "", systems }, { exit: [3] });
	expect(result.runs.map((r) => `${r.system} ${r.verdict}`).sort()).toEqual([
		"free pass",
		"taken error",
	]);
	expect(result.runs.find((r) => r.system === "taken")?.why).toContain(`port ${port} is taken`);
});

// A small disk can be mounted by root only; in CI it must.
const root = process.getuid?.() === 0 || process.env.CI === "true";

describe.skipIf(!root)(`the folder for the results${root ? "" : " (needs root)"}`, () => {
	test.each([
		["is read-only", "ro,size=64k", /\(the file system is read-only\)/],
		["is full", "size=4k", /\(the disk is full\)/],
	])("on a disk that %s is refused, and nothing half-written is left", async (_, how, words) => {
		const folder = temporaryFolder();
		const disk = mount(folder, how);
		const { code, err } = await run([scenario(folder), "--out", path.join(disk, "out")]);
		expect(code).toBe(3);
		expect(err).toMatch(words);
		expect(readdirSync(disk)).toEqual([]);
	});

	test("on a disk that fills up in mid-run: the run ends with exit 3 and says why", {
		tags: "long",
	}, async () => {
		const folder = temporaryFolder();
		const disk = mount(folder, "size=3m");
		const out = path.join(disk, "out");
		const mqbench = start([scenario(folder, { duration: "3s" }), "--out", out]);
		await mqbench.says(/ {2}1s\/3s/);
		const ballast = path.join(disk, "ballast");
		fill(ballast);
		const { code, err } = await mqbench.ended;
		expect(code).toBe(3);
		expect(err).toMatch(/the disk is full|no space left on device/);
		expect(err).not.toMatch(/^ +at /m);
		expect(filesOf(out).join()).toMatch(/client-0\.jsonl/);
		expect(err).toMatch(/, so this run is lost\. .*: npx mqbench .*--resume \S+out\n$/);
		// What had been written is not lost: with room again it can be looked at.
		rmSync(ballast);
		expect((await run(["report", out])).code).toBe(3);
		expect(resultOf(out).verdict).toBe("error");
	});

	test("a cache that forbids programs is refused", { tags: "long" }, async () => {
		const folder = temporaryFolder();
		const cache = mount(folder, "noexec,size=256m");
		const env = { MQBENCH_CACHE_DIR: cache };
		const { err } = await measured({}, {}, { folder, env, exit: [3] });
		expect(err).toContain("programs may not be executed there");
		expect(readdirSync(path.join(cache, "bin"))).toEqual([]);
	});

	test.each([
		[
			"cannot be written is an error",
			"> /dev/full",
			3,
			/The output cannot be written \(the disk is full\)/,
		],
		[
			"has a reader that goes away changes nothing",
			`2>/dev/null | head -n 1; exit "\${PIPESTATUS[0]}"`,
			0,
			/^$/,
		],
	])(
		"stdout that %s, and the results are kept",
		{ tags: "long" },
		async (_, where, code, words) => {
			const under = ["bash", "-c", `"$0" "$@" ${where}`];
			const { err, result } = await measured({}, {}, { args: ["--json"], under, exit: [code] });
			expect(err).toMatch(words);
			expect(result.verdict).toBe("pass");
		},
	);
});

describe("what others write reaches the terminal as letters", () => {
	const EVIL = "\u001b[2J\u001b]0;gone\u0007\rPASS \u202e";
	const rows: Readonly<Record<string, (folder: string) => string[]>> = {
		"a key of rig.json": (folder) => {
			const rig = path.join(folder, "rig.json");
			writeFileSync(rig, JSON.stringify({ [EVIL]: 1 }));
			return [scenario(folder), "--rig", rig];
		},
		"the last words of a broker": (folder) => {
			const said = path.join(folder, "said");
			writeFileSync(said, `fatal: ${EVIL}\n`);
			const binary = script(
				path.join(folder, "nats-server"),
				`[ "$1" = --version ] && echo "nats-server: v2.11.0" && exit; cat ${said} >&2; exit 1`,
			);
			return [scenario(folder, {}, { system: JSON.stringify({ broker: "nats", binary }) })];
		},
	};
	test.each(Object.entries(rows))("%s", async (_, make) => {
		const { code, out, err } = await run(make(temporaryFolder()), { env: { FORCE_COLOR: "1" } });
		expect(code).not.toBe(0);
		expect(err).toContain("PASS");
		expect(out + err).not.toMatch(
			// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what may not be there.
			/[\u0007\r\u202e]|\u001b(?!\[\d+m)/,
		);
	});
});

// --- internal ---

/** A small disk, gone when the test is over. */
function mount(folder: string, options: string): string {
	const disk = path.join(folder, "disk");
	mkdirSync(disk);
	execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", disk], { stdio: "pipe" });
	onTestFinished(() => void execFileSync("umount", ["-l", disk]));
	return disk;
}

/** Writes until the disk is full. */
function fill(file: string): void {
	for (let size = 64 * 1024; size >= 1; size = Math.floor(size / 2))
		try {
			for (;;) writeFileSync(file, Buffer.alloc(size), { flag: "a" });
		} catch {
			// The next smaller piece may still fit.
		}
}
