import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { sha256 } from "../../runner/sha256.ts";
import { fakeWorld } from "../../runner/world.fake.ts";
import { script, testFolder } from "../test-folder.fake.ts";
import { resolveJars } from "./jars.ts";

/** A machine whose Maven is a script: `$out` is the folder that it is to fill, `$home` the test's. */
function machine(body: string) {
	const home = testFolder();
	const pom = path.join(home, "pom.xml");
	writeFileSync(pom, "<project/>");
	const mvn = script(
		path.join(home, "mvn"),
		`home='${home}'; echo "$*" >> "$home/calls"; for a; do case "$a" in -DoutputDirectory=*) out="\${a#*=}";; esac; done\n${body}`,
	);
	const cache = path.join(home, "cache");
	const world = fakeWorld({ env: { PATH: process.env.PATH, MQBENCH_CACHE_DIR: cache } });
	return {
		home,
		jars: path.join(cache, "jars"),
		/** Pins files with these texts. */
		pin(files: Record<string, string>) {
			const sums = Object.entries(files).map(([file, text]) => `${sha256(text)}  ${file}\n`);
			const file = path.join(home, "sums");
			writeFileSync(file, ["# By hand.\n", ...sums].join(""));
			return file;
		},
		calls: () => readFileSync(path.join(home, "calls"), "utf8").trim().split("\n"),
		resolve: (properties: Record<string, string> = {}, sums: string | null = null) =>
			resolveJars({ name: "kafka", pom, properties, sums, mvn, world, system: "mine" }),
	};
}

test("jars are fetched once, each version into a folder of its own, and Maven refuses what does not have its checksum", async () => {
	const { resolve, calls, jars } = machine('touch "$out/a.jar"');
	const folder = await resolve();
	expect(readdirSync(folder)).toEqual(["a.jar"]);
	expect(await resolve()).toBe(folder);
	expect(calls()).toEqual([expect.stringContaining("--strict-checksums")]);
	expect(readdirSync(jars)).toEqual([path.basename(folder), `${path.basename(folder)}.sha256`]);
	expect(await resolve({ kafka: "4.0.0" })).not.toBe(folder);
	expect(calls()[1]).toContain("-Dkafka=4.0.0");
});

describe("jars that are pinned", () => {
	const BODY = 'printf a > "$out/a.jar"; printf b > "$out/b.jar"';
	const PINS = { "a.jar": "a", "b.jar": "b" };

	test.each([
		[
			"exchanged",
			{ ...PINS, "b.jar": "c" },
			`b.jar in what Maven fetched is not what mqbench knows: its sha256 is ${sha256("b")}, and must be ${sha256("c")}`,
			"b.jar",
		],
		[
			"missing",
			{ ...PINS, "c.jar": "c" },
			`c.jar in what Maven fetched is not what mqbench knows: its sha256 is none, and must be ${sha256("c")}`,
			"c.jar",
		],
		[
			"one too many",
			{ "a.jar": "a" },
			`b.jar in what Maven fetched is not what mqbench knows: its sha256 is ${sha256("b")}, and must be none`,
			"b.jar",
		],
	])("are refused after the download when one is %s", async (_, pins, what, file) => {
		const { resolve, pin, jars } = machine(BODY);
		await expect(resolve({}, pin(pins))).rejects.toMatchObject({
			code: "broker-missing",
			message: `mine: ${what}. Remove it from the folder in which Maven keeps it, and try again: find ~/.m2 -name ${file} -delete.`,
		});
		expect(readdirSync(jars)).toEqual([]);
	});
});

describe.each([
	["pinned", true],
	["not pinned, but were fetched by Maven", false],
])("jars of the cache that are %s", (_, pinned) => {
	test.each([
		["exchanged", "a.jar", "x"],
		["lost", "a.jar", null],
		["joined by another", "evil.jar", "x"],
		["without a record of what was fetched", null, null],
	])(
		"are checked before each use: where one was %s they are fetched anew",
		async (_, file, text) => {
			const { resolve, pin, calls, jars } = machine('printf a > "$out/a.jar"');
			const sums = pinned ? pin({ "a.jar": "a" }) : null;
			const folder = await resolve({}, sums);
			if (file === null) rmSync(`${folder}.sha256`, { force: true });
			else if (text === null) rmSync(path.join(folder, file));
			else writeFileSync(path.join(folder, file), text);
			expect(await resolve({}, sums)).toBe(folder);
			expect(readdirSync(jars)).toHaveLength(pinned ? 1 : 2);
			expect(readdirSync(folder)).toEqual(["a.jar"]);
			expect(readFileSync(path.join(folder, "a.jar"), "utf8")).toBe("a");
			expect(calls()).toHaveLength(pinned && file === null ? 1 : 2);
		},
	);
});

test("a Maven that fails is one sentence with its own reason, and leaves nothing", async () => {
	const { resolve, jars } = machine(
		'touch "$out/half.jar"; echo "[ERROR] Failed to execute goal: Could not find artifact a:b:jar:9 -> [Help 1]"; echo "[ERROR] Re-run Maven"; exit 1',
	);
	await expect(resolve({ kafka: "9" })).rejects.toMatchObject({
		code: "broker-missing",
		exit: 3,
		message: expect.stringMatching(
			/^mine: Maven cannot fetch kafka: Failed to execute goal: Could not find artifact a:b:jar:9\. Configure a Maven repository/,
		),
	});
	expect(readdirSync(jars)).toEqual([]);
});
