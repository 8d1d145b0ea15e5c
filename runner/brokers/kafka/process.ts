import { failure } from "../../errors.ts";
import { formatBytes } from "../../units.ts";
import { hostPort } from "../addresses.ts";
import { lines, texts } from "../config.ts";
import type { SystemOptionsOfAnyBroker } from "../fields.ts";
import { jvmServer } from "../jvm.ts";
import { ANY, type Setup, type Site } from "../process.ts";
import type { Jars } from "../server.ts";

/** As in pom.xml. */
const image = { name: "apache/kafka", version: "4.2.2" };

export const jars: Jars = {
	title: "Kafka",
	name: "kafka",
	folder: "kafka",
	version: image.version,
	installed: { folder: "libs", jar: "kafka_2." },
};

/** How often Kafka checks a topic's flush.ms: never by default. */
export const SCHEDULER = "log.flush.scheduler.interval.ms";

/** Flags of Kafka's own scripts. */
const JVM = [
	"-XX:+UseG1GC",
	"-XX:MaxGCPauseMillis=20",
	"-XX:InitiatingHeapOccupancyPercent=35",
	"-XX:+ExplicitGCInvokesConcurrent",
];

/** KRaft, without ZooKeeper. Containers need Kafka in /opt/kafka and java on PATH; the image's scripts would choose other flags. */
export const server = jvmServer<SystemOptionsOfAnyBroker>({
	image,
	jars: [jars],
	megabytes: 45,
	remark: "; or `binary: /opt/kafka`",
	container: { data: "/var/lib/kafka/data" },
	ports: () => [
		{ number: 9092, from: "clients" },
		{ number: 9093, from: "nodes" },
	],
	flags: JVM,
	logging: "",
	inImage: "/opt/kafka/libs",
	launch(setup, { config = {} }, run) {
		const { nodes, image, where, level } = setup;
		const controllers = nodes.map(({ ip, ports }) => hostPort(ip, ports[1] ?? 0));
		const inMemory = level === "memory";
		const chosen = {
			...own(nodes.length),
			...(level === "interval" ? { [SCHEDULER]: "1000" } : {}),
			...texts(config),
		};
		return {
			log: { name: "Kafka", version: /\bKafka version: (\S+)/, up: /\] Kafka Server started\b/ },
			url: `kafka://${nodes.map(({ client }) => client).join(",")}`,
			settings: { ...chosen, "log.dirs": inMemory ? `${where.memory} (in memory)` : where.disk },
			data: inMemory ? "memory" : "disk",
			flushes: !inMemory,
			// Three start at once and share the cores.
			startMs: nodes.length === 1 ? 60_000 : 120_000,
			async node(node, i) {
				const file = `${node.folder}/server.properties`;
				// A container formats before each of its starts.
				const again = image ? ["--ignore-formatted"] : [];
				const format = ["format", ...again, "-t", CLUSTER, "-c", file];
				const settings = {
					...member(i, controllers),
					...listeners(node),
					"log.dirs": inMemory ? await memoryFolder(setup, node) : node.data,
					...chosen,
				};
				return {
					before: [run(node, ["kafka.tools.StorageTool", ...format], BRIEF)],
					argv: run(node, ["kafka.Kafka", file]),
					files: {
						// In Java properties a backslash begins an escape.
						"server.properties": lines(settings, "=", (value) =>
							String(value).replaceAll("\\", "\\\\").replaceAll("\n", "\\n"),
						),
					},
				};
			},
		};
	},
});

// --- internal ---

const SHM = "/dev/shm";
/** Constant because every run formats its own storage. */
const CLUSTER = "bXFiZW5jaC1sb2NhbC0tLQ";
const BRIEF = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData"];

/** In memory fsync has no meaning, so nothing is promised. */
async function memoryFolder(
	{ system, messageBytes, ask }: Setup,
	{ hostname, memory }: Site,
): Promise<string> {
	const wanted = Math.max(1024 ** 3, 256 * messageBytes);
	if (memory !== null && memory.freeBytes >= wanted) return memory.folder();
	throw failure("broker-missing", {
		system: system.key,
		what: `${ask ? `${hostname}: ` : ""}durability: memory puts Kafka's logs on ${SHM}, which has ${formatBytes(memory?.freeBytes ?? 0)} free of ${formatBytes(wanted)} that it needs`,
		remedy: `Choose durability: os, or make it larger (mount -o remount,size=4G ${SHM})`,
	});
}

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

/** Other nodes use the clients' listener, unless clients have another address for it. */
function listeners({ listen, ip, client, ports, published }: Site): Record<string, string> {
	const [clients = 0, controller = 0] = ports;
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

/** Settings that a topic can have itself come from the driver (flush.messages, flush.ms, max.message.bytes). */
function own(nodes: number): Record<string, string> {
	const copies = String(Math.min(nodes, 3));
	return {
		// One node has one copy of Kafka's own topics and needs fewer files for them.
		"offsets.topic.num.partitions": String(nodes),
		"offsets.topic.replication.factor": copies,
		"transaction.state.log.num.partitions": String(nodes),
		"transaction.state.log.replication.factor": copies,
		"transaction.state.log.min.isr": "1",
		"share.coordinator.state.topic.num.partitions": String(nodes),
		"share.coordinator.state.topic.replication.factor": copies,
		"share.coordinator.state.topic.min.isr": "1",
		// A group begins when its members are there, not 3 s later.
		"group.initial.rebalance.delay.ms": "0",
		"auto.create.topics.enable": "false",
		// One node has no peer to hand over to; in a cluster a restarted node does hand over, as users' own do.
		...(nodes === 1 ? { "controlled.shutdown.enable": "false" } : {}),
	};
}
