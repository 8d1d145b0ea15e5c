import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { runs } from "../../../infra/processes.fake.ts";
import { script, testFolder } from "../../../infra/test-folder.fake.ts";
import type { Level } from "../../model/plan.ts";
import { describedHere, started } from "../started.fake.ts";

describe("the files of a launch", () => {
	test("have the server's part of a level, and config has the last word", async () => {
		const launched = await launch("interval", {
			config: { "log.flush.scheduler.interval.ms": 50, "num.io.threads": 2 },
		});
		expect(launched.properties(1)).toMatchObject({
			"log.flush.scheduler.interval.ms": "50",
			"num.io.threads": "2",
		});
		expect(launched.settings).toMatchObject({
			"log.flush.scheduler.interval.ms": "50",
			"num.io.threads": "2",
		});
	});

	test.each([null, "os", "fsync"] as const)(
		"say nothing of flushing for %s: that is the topics'",
		async (level) => {
			const launched = await launch(level);
			const keys = Object.keys(launched.properties(1));
			expect(keys.filter((key) => key.includes("flush"))).toEqual([]);
			expect(launched.properties(1)["log.dirs"]).toBe(path.join(launched.store, "data-1"));
		},
	);

	test("make three nodes one cluster, each with ports and data of its own", async () => {
		const launched = await launch(null, { nodes: 3 });
		const all = [1, 2, 3].map((node) => launched.properties(node));
		expect(new Set(all.map((one) => one["controller.quorum.voters"]))).toEqual(
			new Set(["1@127.0.0.1:4,2@127.0.0.1:5,3@127.0.0.1:6"]),
		);
		expect(all.map((one) => one.listeners)).toEqual([
			"PLAINTEXT://127.0.0.1:1,CONTROLLER://127.0.0.1:4",
			"PLAINTEXT://127.0.0.1:2,CONTROLLER://127.0.0.1:5",
			"PLAINTEXT://127.0.0.1:3,CONTROLLER://127.0.0.1:6",
		]);
		expect(new Set(all.map((one) => one["log.dirs"])).size).toBe(3);
		expect(all[0]).toMatchObject({ "offsets.topic.replication.factor": "3" });
		// A node that is asked to end hands over what it leads first: Kafka's own way.
		expect(all[0]).not.toHaveProperty(["controlled.shutdown.enable"]);
		expect(launched.command(0)).toContain(path.join(launched.home, "libs", "*"));
		expect(launched.url).toBe("kafka://127.0.0.1:1,127.0.0.1:2,127.0.0.1:3");
	});

	test("give Java more heap for large messages, and what the scenario says", async () => {
		expect((await launch(null)).settings.java).toContain("-Xmx512MiB");
		const large = await launch(null, {}, { messageBytes: 64 * 1024 ** 2 });
		expect(large.settings.java).toContain("-Xmx1GiB");
		expect((await launch(null, { heap: "2GiB" })).settings.java).toContain("-Xmx2GiB");
	});
});

describe("what is missing is one sentence that says how to get it", () => {
	test.each([
		[
			"Java",
			null,
			{},
			/^mine: Kafka needs Java 17 or newer, and java is not on PATH\. Install it: /,
		],
		[
			"a newer Java",
			"11.0.20",
			{},
			/needs Java 17 or newer, and \S+\/java is Java 11\. Install it: /,
		],
		[
			"Maven",
			"21.0.1",
			{},
			/mvn is not on PATH\. Install it: .*; or use a Kafka that you have: binary: /,
		],
		[
			"what binary names",
			"21.0.1",
			{ binary: "/nowhere/kafka" },
			/\/nowhere\/kafka \(binary\) is no installation of Kafka: .*Correct binary, or remove it/,
		],
	])("%s", async (_, java, options, message) => {
		await expect(launch(null, options, {}, { PATH: onlyJava(java) })).rejects.toMatchObject({
			code: "broker-missing",
			exit: 3,
			message: expect.stringMatching(message),
		});
	});
});

// Without Java or Maven this says so and skips, but never in CI.
const missing = ["mvn", "java"].filter(
	(command) => spawnSync(command, ["-version"]).error !== undefined,
);

describe.skipIf(missing.length > 0 && process.env.CI !== "true")(
	`a real Kafka${missing.length > 0 ? ` (missing: ${missing.join(", ")})` : ""}`,
	{ timeout: 180_000 },
	() => {
		test("comes up, says its version, keeps its logs in memory where durability is memory, and is gone with its data", async () => {
			const ours = () =>
				readdirSync("/dev/shm").filter((name) => name.startsWith(`mqbench-${process.pid}-`));
			const inMemory = existsSync("/dev/shm");
			const broker = await started("kafka", inMemory ? { durability: "memory" } : {});
			expect(broker.url).toMatch(/^kafka:\/\/127\.0\.0\.1:\d+$/);
			expect(broker.version).toBe("Kafka 4.1.1");
			expect(broker.pids.every(runs)).toBe(true);
			if (inMemory) {
				const [folder = ""] = ours();
				expect(readdirSync(path.join("/dev/shm", folder, "data-1"))).toContain("meta.properties");
				expect(broker.settings["log.dirs"]).toBe("/dev/shm (in memory)");
			}
			await broker.close();
			expect(broker.pids.some(runs)).toBe(false);
			if (inMemory) expect(ours()).toEqual([]);
			expect(readFileSync(broker.log, "utf8")).toContain("Kafka Server started");
		});
	},
);

// --- internal ---

/** A folder in which there is nothing but a Java of that version; null: nothing at all. */
function onlyJava(version: string | null): string {
	const folder = testFolder();
	if (version !== null)
		script(path.join(folder, "java"), `echo 'openjdk version "${version}"' >&2`);
	return folder;
}

type Some = Readonly<Record<string, unknown>>;

/** What would be started. Ports are 1, 2, 3, ... */
async function launch(
	level: Level | null,
	options: Some = {},
	asked: { readonly messageBytes?: number } = {},
	env?: Readonly<Record<string, string | undefined>>,
) {
	const home = testFolder();
	if (!env) {
		mkdirSync(path.join(home, "libs"));
		script(path.join(home, "libs", "kafka_2.13-4.1.1.jar"), "");
		script(path.join(home, "java"), `echo 'openjdk version "17.0.1"' >&2`);
	}
	const written = env ? options : { binary: home, ...options };
	const made = await describedHere("kafka", written, {
		level,
		env: env ?? { PATH: home },
		...asked,
	});
	return {
		home,
		store: made.store,
		settings: made.settings,
		url: made.url(),
		command: (node: number) => made.nodes[node]?.argv ?? [],
		properties: (node: number) =>
			Object.fromEntries(
				made
					.file("server.properties", node)
					.trim()
					.split("\n")
					.map((line) => {
						const at = line.indexOf("=");
						return [line.slice(0, at), line.slice(at + 1)];
					}),
			) as Record<string, string>,
	};
}
