import { execFile } from "node:child_process";
import { readdir, statfs, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { failure } from "../../errors.ts";
import { packageFolder } from "../../package.ts";
import { formatBytes } from "../../units.ts";
import { hostPort } from "../addresses.ts";
import type {
	Command,
	DockerBroker,
	HostAddress,
	HostBroker,
	HostSetup,
	LocalBroker,
	NodeAddress,
	Setup,
} from "../process.ts";
import { OLDEST_JAVA } from "./install.ts";
import type { KafkaOptions } from "./options.ts";

/**
 * Kafka without ZooKeeper, on this machine's Java: one node, or three that are brokers and controllers at once. From `binary` (an
 * installation), from KAFKA_HOME, or from jars that Maven fetches into the cache.
 */
export const kafka: LocalBroker = {
	async launch(setup) {
		const options = optionsOf(setup);
		const java = await findJava(setup);
		const classes = path.join(await findClasses(setup), "*");
		const nodes = options.nodes ?? 1;
		const ports = await setup.ports(2 * nodes);
		const at = (port: number) => `${HOST}:${port}`;
		const clients = ports.slice(0, nodes).map(at);
		const controllers = ports.slice(nodes).map(at);
		const memory = setup.level === "memory" ? await memoryFolder(setup) : null;
		const chosen = settingsOf(setup, nodes);
		const jvm = jvmFlags(setup);
		const logging = path.join(setup.store, "log4j2.properties");
		await writeFile(logging, LOGGING);
		const before: Command[] = [];
		const commands: Command[] = [];
		for (let i = 0; i < nodes; i++) {
			const file = path.join(setup.store, `server-${i + 1}.properties`);
			const data = path.join(memory ?? setup.store, `data-${i + 1}`);
			await writeFile(
				file,
				properties({
					...member(i, controllers),
					listeners: `PLAINTEXT://${clients[i]},CONTROLLER://${controllers[i]}`,
					"advertised.listeners": `PLAINTEXT://${clients[i]}`,
					"log.dirs": data,
					...chosen,
				}),
			);
			const run = (flags: readonly string[], ...rest: string[]) => ({
				argv: [
					java,
					...flags,
					`-Dlog4j2.configurationFile=${logging}`,
					"-cp",
					classes,
					...rest,
				],
			});
			before.push(
				run(
					BRIEF,
					"kafka.tools.StorageTool",
					"format",
					"-t",
					CLUSTER,
					"-c",
					file,
				),
			);
			commands.push(run(jvm, "kafka.Kafka", file));
		}
		return {
			before,
			nodes: commands,
			...signs(clients),
			settings: {
				...chosen,
				"log.dirs": memory
					? `${SHM} (in memory)`
					: "in the run's temporary folder",
				java: jvmText(setup),
			},
			...(memory ? { outside: [memory] } : {}),
			portTaken: (log) => /address already in use/i.test(log),
		};
	},
};

/**
 * Kafka from apache/kafka, or another image with Kafka in /opt/kafka and java on PATH: the same server under the same flags as on this
 * machine, instead of the image's own scripts, which would choose others.
 */
export const kafkaInDocker: DockerBroker = {
	ports: [9092],
	contain(setup) {
		const chosen = settingsOf(setup, setup.nodes.length);
		const controllers = setup.nodes.map(({ ip }) => `${ip}:9093`);
		const inMemory = setup.level === "memory";
		const java = (...args: string[]) =>
			[
				"java",
				...args.slice(0, -1),
				`-Dlog4j2.configurationFile=${FOLDER}/log4j2.properties`,
				"-cp",
				"'/opt/kafka/libs/*'",
				args.at(-1),
			].join(" ");
		// What lies in memory is gone after a restart: then it is formatted again.
		const format = `${java(...BRIEF, "kafka.tools.StorageTool")} format --ignore-formatted -t ${CLUSTER} -c ${SERVER}`;
		const serve = `exec ${java(...jvmFlags(setup), "kafka.Kafka")} ${SERVER}`;
		return {
			...signs(setup.nodes.map(({ client }) => client)),
			settings: {
				...chosen,
				"log.dirs": inMemory ? "tmpfs (in memory)" : "on a volume",
				java: jvmText(setup),
			},
			nodes: setup.nodes.map((node, i) => ({
				entrypoint: "/bin/sh",
				args: ["-c", `${format} && ${serve}`],
				files: {
					[SERVER]: properties({
						...member(i, controllers),
						...listenersInDocker(node),
						"log.dirs": DATA,
						...chosen,
					}),
					[`${FOLDER}/log4j2.properties`]: LOGGING,
				},
				data: { path: DATA, kind: inMemory ? "memory" : "volume" },
			})),
		};
	},
};

/** Kafka from the same jars as on this machine, on the Java of hosts that ssh reaches. */
export const kafkaOnHosts: HostBroker = {
	packages: ["default-jre-headless"],
	ports: [9092],
	listens: () => ({ address: [9092, 9093] }),
	prepare: findClasses,
	async place(setup) {
		await Promise.all(
			setup.nodes.map((_, node) => checkJavaThere(setup, node)),
		);
		const chosen = settingsOf(setup, setup.nodes.length);
		const controllers = setup.nodes.map(({ ip }) => hostPort(ip, 9093));
		const inMemory = setup.level === "memory";
		const jvm = jvmFlags(setup);
		return {
			...signs(setup.nodes.map(({ client }) => client)),
			settings: {
				...chosen,
				"log.dirs": inMemory ? `${SHM} (in memory)` : "in the host's store",
				java: jvmText(setup),
			},
			onDisk: !inMemory,
			bring: { kafka: await findClasses(setup) },
			nodes: setup.nodes.map((node, i) => {
				const run = (flags: readonly string[], ...rest: string[]) => [
					"java",
					...flags,
					`-Dlog4j2.configurationFile=${node.store}/log4j2.properties`,
					"-cp",
					`${node.brought}/kafka/*`,
					...rest,
				];
				const file = `${node.store}/server.properties`;
				return {
					before: [
						run(
							BRIEF,
							...["kafka.tools.StorageTool", "format"],
							...["-t", CLUSTER, "-c", file],
						),
					],
					argv: run(jvm, "kafka.Kafka", file),
					files: {
						"server.properties": properties({
							...member(i, controllers),
							listeners: `PLAINTEXT://${node.client},CONTROLLER://${controllers[i]}`,
							"advertised.listeners": `PLAINTEXT://${node.client}`,
							"log.dirs": `${inMemory ? memoryThere(setup, node) : node.store}/data`,
							...chosen,
						}),
						"log4j2.properties": LOGGING,
					},
				};
			}),
		};
	},
};

// --- internal ---

const HOST = "127.0.0.1";
const FOLDER = "/etc/mqbench";
const SERVER = `${FOLDER}/server.properties`;
/** Where the official image keeps logs; its user may write there. */
const DATA = "/var/lib/kafka/data";
const SHM = "/dev/shm";
/** Every run formats storage of its own: the name of the cluster may be the same. */
const CLUSTER = "bXFiZW5jaC1sb2NhbC0tLQ";

/** Kafka's own scripts give 1 GiB; on a laptop the generator lives beside it. */
const HEAP_BYTES = 512 * 1024 ** 2;
/** As Kafka's own scripts; and the counters of jps and jstat in memory of the process, as files in /tmp stall it. */
const JVM = [
	"-XX:+UseG1GC",
	"-XX:MaxGCPauseMillis=20",
	"-XX:InitiatingHeapOccupancyPercent=35",
	"-XX:+ExplicitGCInvokesConcurrent",
	"-XX:+PerfDisableSharedMem",
	"-Djava.awt.headless=true",
];
const BRIEF = [
	"-XX:TieredStopAtLevel=1",
	"-XX:+UseSerialGC",
	"-XX:-UsePerfData",
];

const JAVA = {
	linux:
		"apt-get install default-jre-headless, or dnf install java-21-openjdk-headless",
	darwin: "brew install openjdk",
	other: "https://adoptium.net",
};
const MAVEN = {
	linux: "apt-get install maven, or dnf install maven",
	darwin: "brew install maven",
	other: "https://maven.apache.org/download.cgi",
};

/** Kafka's log on its output, as broker.log keeps it: with times like those of what mqbench does to it. */
const LOGGING = `rootLogger.level=INFO
rootLogger.appenderRef.out.ref=out
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d{yyyy-MM-dd'T'HH:mm:ss.SSS'Z'}{UTC} %p %c{1} %m%n
`;

/** The scenario's word chose this file, so that its options are Kafka's. */
function optionsOf({ system }: Pick<Setup, "system">): KafkaOptions {
	return system.options as unknown as KafkaOptions;
}

/** Java of that node's host, as findJava on this machine. */
async function checkJavaThere(
	{ system, nodes, ask }: HostSetup,
	node: number,
): Promise<void> {
	const host = nodes[node]?.hostname;
	const { said } = await ask(node, ["java", "-version"]);
	const found = javaVersion(said);
	if (found !== null && found >= OLDEST_JAVA) return;
	throw failure("broker-missing", {
		system: system.key,
		what: `${host}: Kafka needs Java ${OLDEST_JAVA} or newer, and ${found === null ? (/not found/.test(said) ? "java is not on PATH there" : "java there does not say its version") : `java there is Java ${found}`}`,
		remedy: `Install it there: ${JAVA.linux}`,
	});
}

/** The folder in memory of a node's host. */
function memoryThere(
	{ system, messageBytes }: HostSetup,
	{ hostname, memory, memoryBytes }: HostAddress,
): string {
	const wanted = memoryWanted(messageBytes);
	if (memory !== null && memoryBytes !== null && memoryBytes >= wanted)
		return memory;
	throw failure("broker-missing", {
		system: system.key,
		what: `${hostname}: durability: memory puts Kafka's logs on ${SHM}, and ${memoryBytes === null ? "that host has no file system in memory there" : `there are ${formatBytes(memoryBytes)} free, of ${formatBytes(wanted)} that it needs`}`,
		remedy: `${memoryBytes === null ? "C" : `Make it larger there (mount -o remount,size=4G ${SHM}), or c`}hoose durability: os`,
	});
}

/** Major version in the words of `java -version`; null: it does not say one. */
function javaVersion(said: string): number | null {
	const found = /version "(?:1\.)?(\d+)/.exec(said)?.[1];
	return found === undefined ? null : Number(found);
}

function memoryWanted(messageBytes: number): number {
	return Math.max(1024 ** 3, 256 * messageBytes);
}

async function findJava({ system, tools }: Setup): Promise<string> {
	const home = tools.env.JAVA_HOME;
	const java =
		(home && tools.findOnPath("java", { PATH: path.join(home, "bin") })) ||
		tools.findOnPath("java");
	const remedy = `Install it: ${tools.installHere(JAVA)}; or set JAVA_HOME`;
	if (!java)
		throw failure("broker-missing", {
			system: system.key,
			what: "Kafka needs Java, and java is not on PATH",
			remedy,
		});
	const said = await promisify(execFile)(java, ["-version"], {
		timeout: 20_000,
	}).catch((error) => ({ stderr: String(error) }));
	const found = javaVersion(said.stderr);
	if (found === null || found < OLDEST_JAVA)
		throw failure("broker-missing", {
			system: system.key,
			what: `Kafka needs Java ${OLDEST_JAVA} or newer, and ${java} ${found ? `is Java ${found}` : "does not say its version"}`,
			remedy,
		});
	return java;
}

/** Folder of the jars: of an installation, or of the cache. */
async function findClasses(
	setup: Pick<Setup, "system" | "tools">,
): Promise<string> {
	const { system, tools } = setup;
	const { version } = optionsOf(setup);
	if (system.binary !== null)
		return libraries(system.key, system.binary, "binary");
	const home = tools.env.KAFKA_HOME;
	if (home && version === undefined)
		return libraries(system.key, home, "KAFKA_HOME");
	const mvn = tools.findOnPath("mvn");
	if (!mvn)
		throw failure("broker-missing", {
			system: system.key,
			what: "mqbench has Maven fetch Kafka, and mvn is not on PATH",
			remedy: `Install it: ${tools.installHere(MAVEN)}; or use a Kafka that you have: KAFKA_HOME=/path/to/kafka, or binary: /path/to/kafka`,
		});
	return tools.jars({
		name: "kafka",
		pom: path.join(packageFolder, "runner", "brokers", "kafka", "pom.xml"),
		properties: version === undefined ? {} : { kafka: version },
		mvn,
		system: system.key,
	});
}

async function libraries(
	system: string,
	home: string,
	source: string,
): Promise<string> {
	const folder = path.resolve(home, "libs");
	const jars = await readdir(folder).catch(() => []);
	if (jars.some((jar) => /^kafka_2\.\d+-.*\.jar$/.test(jar))) return folder;
	throw failure("broker-missing", {
		system,
		what: `${home} (${source}) is no installation of Kafka: there is no libs/kafka_2.13-<version>.jar in it`,
		remedy: `Correct ${source}, or remove it to have Maven fetch Kafka`,
	});
}

/** A folder whose files are memory. What fsync would mean there is nothing, so that nothing is promised. */
async function memoryFolder({
	system,
	messageBytes,
	tools,
}: Setup): Promise<string> {
	const wanted = memoryWanted(messageBytes);
	const found = await statfs(SHM).catch(() => null);
	const free =
		found && found.type === TMPFS ? found.bavail * found.bsize : null;
	if (free === null || free < wanted)
		throw failure("broker-missing", {
			system: system.key,
			what: `durability: memory puts Kafka's logs on ${SHM}, and ${free === null ? "this machine has no file system in memory there" : `there are ${formatBytes(free)} free, of ${formatBytes(wanted)} that it needs`}`,
			remedy:
				`${free === null ? "" : `Make it larger (mount -o remount,size=4G ${SHM}), or `}choose durability: os`.replace(
					/^c/,
					"C",
				),
		});
	return tools.temporaryFolder(SHM);
}

const TMPFS = 0x01021994;

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

type Sized = Pick<Setup, "system" | "messageBytes">;

function heapOf(setup: Sized): number {
	return optionsOf(setup).heap ?? Math.max(HEAP_BYTES, 16 * setup.messageBytes);
}

function jvmFlags(setup: Sized): string[] {
	const heap = heapOf(setup);
	return [`-Xms${heap}`, `-Xmx${heap}`, ...JVM];
}

/** For people. */
function jvmText(setup: Sized): string {
	const heap = formatBytes(heapOf(setup));
	return [`-Xms${heap}`, `-Xmx${heap}`, ...JVM].join(" ");
}

/** Who a node is, and who the others are: each is broker and controller at once. */
function member(
	index: number,
	controllers: readonly string[],
): Record<string, string> {
	return {
		"process.roles": "broker,controller",
		"node.id": String(index + 1),
		"controller.quorum.voters": controllers
			.map((controller, i) => `${i + 1}@${controller}`)
			.join(","),
		"controller.listener.names": "CONTROLLER",
		"listener.security.protocol.map":
			"PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
	};
}

/** Other nodes come by the same listener as clients, unless those have another address for it. */
function listenersInDocker({
	ip,
	client,
	published,
}: NodeAddress): Record<string, string> {
	return published
		? {
				listeners: "PLAINTEXT://:9092,INTERNAL://:9094,CONTROLLER://:9093",
				"advertised.listeners": `PLAINTEXT://${client},INTERNAL://${ip}:9094`,
				"inter.broker.listener.name": "INTERNAL",
				"listener.security.protocol.map":
					"PLAINTEXT:PLAINTEXT,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT",
			}
		: {
				listeners: "PLAINTEXT://:9092,CONTROLLER://:9093",
				"advertised.listeners": `PLAINTEXT://${client}`,
			};
}

/**
 * What differs from Kafka's defaults, durability's part of the server, and `config`, which has the last word. What a topic can
 * have of its own (flush.messages, flush.ms, max.message.bytes) the driver gives it.
 */
function settingsOf(
	setup: Pick<Setup, "system" | "level">,
	nodes: number,
): Record<string, string> {
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
	// Kafka never looks whether a topic's flush.ms is over unless it is told to.
	if (setup.level === "interval")
		settings["log.flush.scheduler.interval.ms"] = "1000";
	const { config } = optionsOf(setup);
	for (const [key, value] of Object.entries(config ?? {}))
		settings[key] = String(value);
	return settings;
}

/** A file in Java's manner, in which a backslash begins an escape. */
function properties(settings: Readonly<Record<string, string>>): string {
	return Object.entries(settings)
		.map(
			([key, value]) =>
				`${key}=${value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}\n`,
		)
		.join("");
}
