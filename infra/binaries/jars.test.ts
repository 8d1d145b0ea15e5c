import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { sha256 } from "../../runner/sha256.ts";
import { fakeWorld } from "../../runner/world.fake.ts";
import { runs } from "../processes.fake.ts";
import { script, testFolder } from "../test-folder.fake.ts";
import { resolveJars } from "./jars.ts";
import { realBinaries } from "./real.fake.ts";

const { agent } = await realBinaries();

/** A machine whose Maven is a script: `$out` is the folder that it is to fill, `$home` the test's. */
function machine(body: string, stop = new AbortController().signal) {
	const home = testFolder();
	const pom = path.join(home, "pom.xml");
	writeFileSync(pom, "<project/>");
	const mvn = script(
		path.join(home, "mvn"),
		`home='${home}'; echo "$*" >> "$home/calls"; for a; do case "$a" in -DoutputDirectory=*) out="\${a#*=}";; esac; done\n${body}`,
	);
	const cache = path.join(home, "cache");
	const world = fakeWorld({ env: { PATH: process.env.PATH, MQBENCH_CACHE_DIR: cache }, stop });
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
			resolveJars({ name: "kafka", pom, properties, sums, mvn, agent, world, system: "mine" }),
	};
}

test("jars are fetched once, into a folder of their own, and Maven refuses what does not have its checksum", async () => {
	const { resolve, calls, jars } = machine('touch "$out/a.jar"');
	const folder = await resolve();
	expect(readdirSync(folder)).toEqual(["a.jar"]);
	expect(await resolve()).toBe(folder);
	expect(calls()).toEqual([expect.stringContaining("--strict-checksums")]);
	expect(readdirSync(jars)).toEqual([path.basename(folder), `${path.basename(folder)}.sha256`]);
});

describe("jars that are pinned", () => {
	const BODY = 'printf a > "$out/a.jar"; printf b > "$out/b.jar"';
	const PINS = { "a.jar": "a", "b.jar": "b" };

	test("are taken when they are those, and need no record", async () => {
		const { resolve, pin, jars } = machine(BODY);
		const folder = await resolve({}, pin(PINS));
		expect(await resolve({}, pin(PINS))).toBe(folder);
		expect(readdirSync(jars)).toEqual([path.basename(folder)]);
	});

	test.each([
		[
			"exchanged",
			{ ...PINS, "b.jar": "c" },
			`b.jar in what Maven fetched is not the file that mqbench knows (its sha256 is ${sha256("b")}, not ${sha256("c")})`,
			"b.jar",
		],
		["missing", { ...PINS, "c.jar": "c" }, "c.jar is missing in what Maven fetched", "c.jar"],
		[
			"one too many",
			{ "a.jar": "a" },
			"b.jar in what Maven fetched is not one of the files that mqbench knows",
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
		["exchanged", "a.jar", "x", /a\.jar in \S+ is not the file that mqbench knows/],
		["lost", "a.jar", null, /a\.jar is missing in \S+/],
		["joined by another", "evil.jar", "x", /evil\.jar in \S+ is not one of/],
	])("are checked before each use: one that was %s is named", async (_, file, text, words) => {
		const { resolve, pin, calls } = machine('printf a > "$out/a.jar"');
		const sums = pinned ? pin({ "a.jar": "a" }) : null;
		const folder = await resolve({}, sums);
		if (text === null) rmSync(path.join(folder, file));
		else writeFileSync(path.join(folder, file), text);
		const refused = resolve({}, sums);
		await expect(refused).rejects.toMatchObject({ code: "broker-missing" });
		await expect(refused).rejects.toThrow(words);
		await expect(refused).rejects.toThrow(`rm -r ${folder}.`);
		expect(calls()).toHaveLength(1);
		rmSync(folder, { recursive: true });
		expect(await resolve({}, sums)).toBe(folder);
	});
});

test("jars of an earlier mqbench, which wrote no record, are fetched anew", async () => {
	const { resolve, calls } = machine('printf a > "$out/a.jar"');
	const folder = await resolve();
	rmSync(`${folder}.sha256`);
	writeFileSync(path.join(folder, "a.jar"), "x");
	expect(await resolve()).toBe(folder);
	expect(readFileSync(path.join(folder, "a.jar"), "utf8")).toBe("a");
	expect(calls()).toHaveLength(2);
});

test("another version is another folder, and Maven is told", async () => {
	const { resolve, calls } = machine('touch "$out/a.jar"');
	expect(await resolve({ kafka: "4.0.0" })).not.toBe(await resolve());
	expect(calls()[0]).toContain("-Dkafka=4.0.0");
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

test("Ctrl-C ends Maven, and leaves nothing", async () => {
	const stop = new AbortController();
	const { resolve, home, jars } = machine('echo $$ > "$home/pid"; exec sleep 100', stop.signal);
	const resolved = resolve();
	const pid = path.join(home, "pid");
	await expect.poll(() => existsSync(pid)).toBe(true);
	stop.abort("SIGINT");
	await expect(resolved).rejects.toMatchObject({ code: "interrupted" });
	expect(runs(Number(readFileSync(pid, "utf8")))).toBe(false);
	expect(readdirSync(jars)).toEqual([]);
});
