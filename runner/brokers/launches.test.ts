import { mkdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { script, testFolder } from "../../infra/test-folder.fake.ts";
import { goldenBlocks } from "../tests/golden.fake.ts";
import { TO_OUTPUT } from "./jvm.ts";
import type { Setup, Site } from "./process.ts";
import { describedHere, describedThere } from "./started.fake.ts";

type Some = Readonly<Record<string, unknown>>;

/** A folder of programs that only seem to be, a Maven that has the jars, and an installation of each server on a JVM. */
function programs(java = "17.0.1"): string {
	const folder = testFolder();
	for (const name of ["redis-server", "mosquitto", "erl", "epmd"])
		script(path.join(folder, name), "exit 1");
	script(path.join(folder, "java"), `echo 'openjdk version "${java}"' >&2`);
	script(
		path.join(folder, "mvn"),
		// biome-ignore lint/suspicious/noTemplateCurlyInString: of the shell.
		'for a; do case "$a" in -DoutputDirectory=*) echo > "${a#*=}/a.jar";; esac; done',
	);
	for (const jar of [
		"libs/kafka_2.13-9.jar",
		"lib/artemis-server-9.jar",
		"lib/activemq-broker-9.jar",
	])
		file(path.join(folder, "installed", jar));
	for (const version of ["3.13.2", "4.3.1"]) {
		file(path.join(folder, `rabbitmq-${version}`, "sbin", "rabbitmq-server"));
		mkdirSync(path.join(folder, `rabbitmq-${version}`, "plugins", `rabbit-${version}`), {
			recursive: true,
		});
	}
	return folder;
}

function file(name: string): void {
	mkdirSync(path.dirname(name), { recursive: true });
	script(name, "exit 1");
}

/** What a block gives: a system, where, and what is asked for. Paths of `binary` are below the folder of programs. */
interface Given {
	readonly system: Some & { readonly broker: string };
	readonly at?: "hosts" | "image";
	readonly level?: Setup["level"];
	readonly messageBytes?: number;
	readonly site?: Partial<Site>;
}

const IMAGE = {
	name: "it:1",
	digest: null,
	id: "sha256:1",
	entrypoint: ["/serve"],
	env: { RABBITMQ_VERSION: "4.1.0" },
};
const SAID = `openjdk version "17.0.1"
mqbench:program=/usr/bin/server
mqbench:version=3.10.8
mqbench:names=/usr/bin/epmd
`;

/** What is started, wherever that is: commands, environment and files of the last node, and what reports and drivers get. */
goldenBlocks(new URL("./golden/launches.txt", import.meta.url), async (text) => {
	const { system, at, level = null, messageBytes = 256, site }: Given = parse(text);
	const bin = programs();
	const binary =
		system.binary === undefined ? {} : { binary: path.join(bin, String(system.binary)) };
	const written = { ...system, ...binary };
	const image = at === "image" ? { image: IMAGE } : {};
	const env = { PATH: `${bin}:/usr/bin:/bin`, MQBENCH_CACHE_DIR: path.join(bin, "cache") };
	const made = at
		? await describedThere(written, {
				said: SAID,
				setup: { level, messageBytes, ...image },
				site: site ?? {},
			})
		: await describedHere(system.broker, written, { level, messageBytes, env });
	const node = made.nodes.at(-1);
	const lines = [
		...(node?.before ?? []).map((argv) => `first: ${argv.join(" ")}`),
		`run: ${node?.argv.join(" ")}`,
		...Object.entries(node?.env ?? {}).map(([name, value]) => `env: ${name}=${value}`),
		`url: ${made.url()}`,
		...Object.entries(made.settings).map(([name, value]) => `setting: ${name}: ${value}`),
		`data: ${made.data}${made.flushes ? ", flushed" : ""}`,
		...Object.entries(node?.files ?? {}).map(([name, content]) => `${name}:\n${content.trimEnd()}`),
	];
	return lines
		.join("\n")
		.replaceAll("store" in made ? String(made.store) : "/disk/run's/store", "STORE")
		.replaceAll(bin, "BIN")
		.replaceAll(TO_OUTPUT.trimEnd(), "<to its output>")
		.replaceAll(/(\/jars\/\w+)-\w+/g, "$1")
		.replaceAll(/\S+(?=\/(mochi|nsqd|nats-server|nats-streaming-server|forwarder)\b)/g, "BUILT")
		.replaceAll(/\b[0-9a-f]{24}\b/g, "<secret>")
		.replaceAll(/mqbench-[0-9a-f]{8}@/g, "mqbench-<id>@")
		.replaceAll(/(\$7\$101\$)\S+/g, "$1<hash>");
});

test.each<[string, Some, readonly string[], string]>([
	[
		"redis",
		{},
		["# Redis version=7.0.15, bits=64", "* Ready to accept connections"],
		"redis-server 7.0.15",
	],
	[
		"redis",
		{},
		["# Valkey version=8.1.0, bits=64", "* Ready to accept connections tcp"],
		"valkey-server 8.1.0",
	],
	[
		"nsq",
		{},
		["INFO: nsqd v1.3.0 (built", "INFO: TCP: listening on a", "INFO: HTTP: listening on b"],
		"nsqd 1.3.0",
	],
	[
		"amqp",
		{ binary: "installed" },
		[" Message Broker version 2.4 ", "AMQ221007: Server is now active"],
		"ActiveMQ Artemis 2.4",
	],
	[
		"amqp",
		{ binary: "installed", server: "classic" },
		[
			"Apache ActiveMQ 6.1.7 (mqbench, ID:x) is starting",
			"Apache ActiveMQ 6.1.7 (mqbench, ID:x) started",
		],
		"ActiveMQ Classic 6.1.7",
	],
	[
		"sqs",
		{ version: "1.6.0" },
		[
			"Starting ElasticMQ server (1.6.12) ...",
			"=== ElasticMQ server (1.6.12) started in 15 ms ===",
		],
		"ElasticMQ 1.6.12",
	],
])("%s %j is up by the last of %j, as %s", async (broker, written, log, version) => {
	const bin = programs();
	const binary = written.binary ? { binary: path.join(bin, String(written.binary)) } : {};
	const env = { PATH: bin, MQBENCH_CACHE_DIR: path.join(bin, "cache") };
	const made = await describedHere(broker, { ...written, ...binary }, { env });
	expect(log.map((line) => made.ready(line, 0))).toEqual(log.map((_, i) => i === log.length - 1));
	expect(made.version()).toBe(version);
});

test("Java has more heap for large messages", async () => {
	const env = { PATH: programs() };
	const written = { binary: path.join(env.PATH, "installed") };
	const made = await describedHere("kafka", written, { env, messageBytes: 64 * 1024 ** 2 });
	expect(made.settings.java).toContain("-Xmx1GiB");
});

describe("what is missing is one sentence that says how to get it:", () => {
	const java = (version: string) => () => programs(version);
	const only = (name: string, does: string) => () =>
		path.dirname(script(path.join(testFolder(), name), does));
	const none = () => "/nowhere";

	test.each<[string, Some, () => string, RegExp]>([
		[
			"redis",
			{},
			none,
			/^mine: redis-server is not on PATH\. Install it: .*redis.*; or name one that you have: binary: \/path\/to\/redis-server\.$/,
		],
		[
			"redis",
			{ binary: "valkey-elsewhere" },
			none,
			/^mine: valkey-elsewhere \(binary\) is not on PATH\. Correct binary, or remove it/,
		],
		[
			"nats",
			{ binary: "/nowhere/nats-server" },
			none,
			/^mine: \/nowhere\/nats-server \(binary\) is not a program that can be run\. Correct binary/,
		],
		[
			"kafka",
			{},
			none,
			/^mine: Kafka needs Java 17 or newer, and java is not on PATH\. Install it: .*; or set JAVA_HOME\.$/,
		],
		[
			"kafka",
			{},
			java("11.0.20"),
			/needs Java 17 or newer, and \S+\/java is Java 11\. Install it: /,
		],
		[
			"kafka",
			{},
			only("java", `echo 'version "21.0.1"' >&2`),
			/mvn is not on PATH\. Install it: .*; or use a Kafka that you have: binary: /,
		],
		[
			"kafka",
			{ binary: "/nowhere" },
			java("21.0.1"),
			/\/nowhere \(binary\) is no installation of Kafka: .*Correct binary, or remove it/,
		],
		[
			"rabbitmq",
			{},
			only("rabbitmq-server", ""),
			/^mine: epmd \(of Erlang, which RabbitMQ runs on\) is not on PATH\. Install Erlang: /,
		],
	])("%s %j here", async (broker, written, PATH, message) => {
		await expect(describedHere(broker, written, { env: { PATH: PATH() } })).rejects.toMatchObject({
			code: "broker-missing",
			exit: 3,
			message: expect.stringMatching(message),
		});
	});

	const memory = (freeBytes: number) => ({ freeBytes, folder: async () => "" });
	test.each<[string, string, Partial<Site> | null, RegExp]>([
		[
			"redis",
			"Welcome\n",
			null,
			/^mine: redis-server is not on h1\. Install it there: apt-get install redis-server; /,
		],
		[
			"rabbitmq",
			"mqbench:program=/opt/it\nmqbench:names=\n",
			null,
			/^mine: epmd \(.*\) is not on h1\. Install Erlang there: apt-get install erlang-base/,
		],
		[
			"kafka",
			"sh: 1: exec: java: not found",
			null,
			/^mine: Kafka needs Java 17 or newer, and java is not on PATH on h1\. Install it there: apt-get /,
		],
		["kafka", 'openjdk version "11.0.2"', null, /java is Java 11 on h1\. /],
		[
			"kafka",
			SAID,
			{ memory: null },
			/^mine: h1: durability: memory puts Kafka's logs on \/dev\/shm, which has 0B free of 1GiB that it needs\. Choose durability: os, or make it larger \(mount /,
		],
		["kafka", SAID, { memory: memory(64 * 1024 ** 2) }, /which has 64MiB free of 1GiB/],
	])("%s on hosts that say %j", async (broker, said, site, message) => {
		const binary = broker === "kafka" ? { binary: path.join(programs(), "installed") } : {};
		const setup = { level: site === null ? null : ("memory" as const) };
		await expect(
			describedThere({ broker, ...binary }, { said, setup, site: site ?? {} }),
		).rejects.toMatchObject({ code: "broker-missing", message: expect.stringMatching(message) });
	});
});
