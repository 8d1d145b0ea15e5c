import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
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
	const world = fakeWorld({
		env: { PATH: process.env.PATH, MQBENCH_CACHE_DIR: cache },
		stop,
	});
	return {
		home,
		jars: path.join(cache, "jars"),
		calls: () =>
			readFileSync(path.join(home, "calls"), "utf8").trim().split("\n"),
		resolve: (properties: Record<string, string> = {}) =>
			resolveJars({
				name: "kafka",
				pom,
				properties,
				mvn,
				agent,
				world,
				system: "mine",
			}),
	};
}

test("jars are fetched once, into a folder of their own", async () => {
	const { resolve, calls, jars } = machine('touch "$out/a.jar"');
	const folder = await resolve();
	expect(readdirSync(folder)).toEqual(["a.jar"]);
	expect(await resolve()).toBe(folder);
	expect(calls()).toHaveLength(1);
	expect(readdirSync(jars)).toEqual([path.basename(folder)]);
});

test("another version is another folder, and Maven is told", async () => {
	const { resolve, calls } = machine('touch "$out/a.jar"');
	expect(await resolve({ kafka: "4.0.0" })).not.toBe(await resolve());
	expect(calls()[0]).toContain("-Dkafka=4.0.0");
});

describe("a Maven that fails", () => {
	test("is one sentence with its own reason, and leaves nothing", async () => {
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

	test("is tried again the next time", async () => {
		const { resolve, home } = machine(
			'[ -e "$home/mended" ] || exit 1; touch "$out/a.jar"',
		);
		await expect(resolve()).rejects.toMatchObject({ code: "broker-missing" });
		writeFileSync(path.join(home, "mended"), "");
		expect(existsSync(await resolve())).toBe(true);
	});
});

test("Ctrl-C ends Maven, and leaves nothing", async () => {
	const stop = new AbortController();
	const { resolve, home, jars } = machine(
		'echo $$ > "$home/pid"; exec sleep 100',
		stop.signal,
	);
	const resolved = resolve();
	const pid = path.join(home, "pid");
	await expect.poll(() => existsSync(pid)).toBe(true);
	stop.abort("SIGINT");
	await expect(resolved).rejects.toMatchObject({ code: "interrupted" });
	expect(runs(Number(readFileSync(pid, "utf8")))).toBe(false);
	expect(readdirSync(jars)).toEqual([]);
});
