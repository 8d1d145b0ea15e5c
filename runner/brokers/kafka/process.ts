import { readdir } from "node:fs/promises";
import path from "node:path";
import { failure } from "../../errors.ts";
import { tell } from "../../text/tell.ts";
import { formatBytes } from "../../units.ts";
import { hostPort } from "../addresses.ts";
import { pinned } from "../jars.ts";
import { fetchJars, findJava, jvmFlags, LOGGING } from "../java.ts";
import { ANY, type BrokerProcess, type Setup, type Site } from "../process.ts";
import { SCHEDULER } from "./durability.ts";
import { image, jars } from "./image.ts";
import type { KafkaOptions } from "./options.ts";

/**
 * Kafka without ZooKeeper: one node, or three that are brokers and controllers at once. On Java from `binary` (an installation), from
 * KAFKA_HOME, or from jars that Maven fetches into the cache; in containers from apache/kafka, or another image with Kafka in /opt/kafka and
 * java on PATH, under the same flags instead of the image's own scripts, which would choose others.
 */
export const kafka: BrokerProcess = {
	packages: ["default-jre-headless"],
	onHosts: {
		text: (version = `${image.version} (or what KAFKA_HOME is)`) =>
			`Kafka ${version}, copied, on the host's Java`,
		anyVersion: true,
	},
	container: { data: "/var/lib/kafka/data" },
	ports: () => [
		{ number: 9092, from: "clients" },
		{ number: 9093, from: "nodes" },
	],
	prepare: findClasses,
	async describe(setup) {
		const { nodes, image, where } = setup;
		const java = await findJava(setup, "Kafka");
		const classes = image ? null : await findClasses(setup);
		const controllers = nodes.map(({ ip, ports }) => hostPort(ip, ports[1] ?? 0));
		const inMemory = setup.level === "memory";
		const chosen = settingsOf(setup, nodes.length);
		return {
			...signs(nodes.map(({ client }) => client)),
			settings: {
				...chosen,
				"log.dirs": inMemory ? `${where.memory} (in memory)` : where.disk,
				java: jvm(setup).text,
				...(classes && unpinned(setup)),
			},
			data: inMemory ? "memory" : "disk",
			flushes: !inMemory,
			nodes: await Promise.all(
				nodes.map(async (node, i) => {
					const jars = classes ? node.bring("kafka", classes) : "/opt/kafka/libs";
					const run = (flags: readonly string[], ...rest: string[]) => [
						java,
						...flags,
						`-Dlog4j2.configurationFile=${node.folder}/log4j2.properties`,
						"-cp",
						`${jars}/*`,
						...rest,
					];
					const file = `${node.folder}/server.properties`;
					return {
						before: [
							run(
								BRIEF,
								"kafka.tools.StorageTool",
								"format",
								// A container does so before each of its starts.
								...(image ? ["--ignore-formatted"] : []),
								"-t",
								CLUSTER,
								"-c",
								file,
							),
						],
						argv: run(jvm(setup).argv, "kafka.Kafka", file),
						files: {
							"server.properties": properties({
								...member(i, controllers),
								...listeners(node),
								"log.dirs": inMemory ? await memoryFolder(setup, node) : node.data,
								...chosen,
							}),
							"log4j2.properties": LOGGING,
						},
					};
				}),
			),
		};
	},
};

// --- internal ---

const SHM = "/dev/shm";
/** Every run formats storage of its own: the name of the cluster may be the same. */
const CLUSTER = "bXFiZW5jaC1sb2NhbC0tLQ";

/** As Kafka's own scripts. */
const JVM = [
	"-XX:+UseG1GC",
	"-XX:MaxGCPauseMillis=20",
	"-XX:InitiatingHeapOccupancyPercent=35",
	"-XX:+ExplicitGCInvokesConcurrent",
];
const BRIEF = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData"];

/** The scenario's word chose this file, so that its options are Kafka's. */
function optionsOf({ system }: Pick<Setup, "system">): KafkaOptions {
	return system.options as unknown as KafkaOptions;
}

/** Where a node's data goes that is to lie in memory. What fsync would mean there is nothing, so that nothing is promised. */
async function memoryFolder(
	{ system, messageBytes, ask }: Setup,
	{ hostname, memory }: Site,
): Promise<string> {
	const wanted = Math.max(1024 ** 3, 256 * messageBytes);
	if (memory !== null && memory.freeBytes >= wanted) return memory.folder();
	const [whose, machine, there] = ask
		? [`${hostname}: `, "that host", " there"]
		: ["", "this machine", ""];
	throw failure("broker-missing", {
		system: system.key,
		what: `${whose}durability: memory puts Kafka's logs on ${SHM}, and ${memory === null ? `${machine} has no file system in memory there` : `there are ${formatBytes(memory.freeBytes)} free, of ${formatBytes(wanted)} that it needs`}`,
		remedy: `${memory === null ? "C" : `Make it larger${there} (mount -o remount,size=4G ${SHM}), or c`}hoose durability: os`,
	});
}

/** Folder of the jars: of an installation, or of the cache. */
async function findClasses(setup: Pick<Setup, "system" | "tools">): Promise<string> {
	const { system, tools } = setup;
	const { version } = optionsOf(setup);
	if (system.binary !== null) return libraries(system.key, system.binary, "binary");
	const home = tools.env.KAFKA_HOME;
	if (home && version === undefined) return libraries(system.key, home, "KAFKA_HOME");
	return fetchJars(setup, jars, {
		...(version === undefined ? {} : { version }),
		instead: "use a Kafka that you have: KAFKA_HOME=/path/to/kafka, or binary: /path/to/kafka",
	});
}

/** What a report says of jars that only Maven has checked. */
function unpinned(setup: Pick<Setup, "system" | "tools">): Record<string, string> {
	const { version } = optionsOf(setup);
	return setup.system.binary !== null || version === undefined || pinned(jars, version) !== null
		? {}
		: { jars: tell("jars-not-pinned", { what: `Kafka ${version}` }) };
}

async function libraries(system: string, home: string, source: string): Promise<string> {
	const folder = path.resolve(home, "libs");
	const jars = await readdir(folder).catch(() => []);
	if (jars.some((jar) => /^kafka_2\.\d+-.*\.jar$/.test(jar))) return folder;
	throw failure("broker-missing", {
		system,
		what: `${home} (${source}) is no installation of Kafka: there is no libs/kafka_2.13-<version>.jar in it`,
		remedy: `Correct ${source}, or remove it to have Maven fetch Kafka`,
	});
}

/** How it tells that it is up, and where it is. */
function signs(clients: readonly string[]) {
	let version = "";
	return {
		ready(line: string) {
			version ||= /\bKafka version: (\S+)/.exec(line)?.[1] ?? "";
			return /\] Kafka Server started\b/.test(line);
		},
		url: () => `kafka://${clients.join(",")}`,
		version: () => version && `Kafka ${version}`,
		// Three start at once, and share the cores.
		startMs: clients.length === 1 ? 60_000 : 120_000,
		stopMs: 10_000,
	};
}

function jvm(setup: Setup) {
	return jvmFlags(setup, ...JVM);
}

/** Who a node is, and who the others are: each is broker and controller at once. */
function member(index: number, controllers: readonly string[]): Record<string, string> {
	return {
		"process.roles": "broker,controller",
		"node.id": String(index + 1),
		"controller.quorum.voters": controllers
			.map((controller, i) => `${i + 1}@${controller}`)
			.join(","),
		"controller.listener.names": "CONTROLLER",
		"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
	};
}

/** Other nodes come by the same listener as clients, unless those have another address for it. */
function listeners({
	listen,
	ip,
	client,
	ports: [clients = 0, controller = 0],
	published,
}: Site): Record<string, string> {
	const at = (name: string, port: number) =>
		`${name}://${listen === ANY ? `:${port}` : hostPort(listen, port)}`;
	const all = (...others: string[]) =>
		[at("PLAINTEXT", clients), ...others, at("CONTROLLER", controller)].join(",");
	const advertised = `PLAINTEXT://${client}`;
	if (!published) return { listeners: all(), "advertised.listeners": advertised };
	return {
		listeners: all(at("INTERNAL", 9094)),
		"advertised.listeners": `${advertised},INTERNAL://${ip}:9094`,
		"inter.broker.listener.name": "INTERNAL",
		"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT",
	};
}

/**
 * What differs from Kafka's defaults, durability's part of the server, and `config`, which has the last word. What a topic can
 * have of its own (flush.messages, flush.ms, max.message.bytes) the driver gives it.
 */
function settingsOf(setup: Pick<Setup, "system" | "level">, nodes: number): Record<string, string> {
	const copies = String(Math.min(nodes, 3));
	const settings: Record<string, string> = {
		// One node has one copy of Kafka's own topics, and needs fewer files for them.
		"offsets.topic.num.partitions": String(nodes),
		"offsets.topic.replication.factor": copies,
		"transaction.state.log.replication.factor": copies,
		"transaction.state.log.min.isr": "1",
		"share.coordinator.state.topic.replication.factor": copies,
		"share.coordinator.state.topic.min.isr": "1",
		// A group begins when its members are there, not 3 s later.
		"group.initial.rebalance.delay.ms": "0",
		"auto.create.topics.enable": "false",
	};
	// There is nobody to hand anything over to. Of several nodes one that is restarted does, as people's own do.
	if (nodes === 1) settings["controlled.shutdown.enable"] = "false";
	if (setup.level === "interval") settings[SCHEDULER] = "1000";
	const { config } = optionsOf(setup);
	for (const [key, value] of Object.entries(config ?? {})) settings[key] = String(value);
	return settings;
}

/** A file in Java's manner, in which a backslash begins an escape. */
function properties(settings: Readonly<Record<string, string>>): string {
	return Object.entries(settings)
		.map(([key, value]) => `${key}=${value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}\n`)
		.join("");
}
