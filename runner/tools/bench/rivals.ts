import { writeFileSync } from "node:fs";
import path from "node:path";
import { findOnPath } from "../../../infra/local/program.ts";
import { type JarsOptions, resolveJars } from "../../../infra/programs/jars.ts";
import { pinned, pomOf } from "../../brokers/jvm.ts";
import { jars as kafkaJars } from "../../brokers/kafka/process.ts";
import { packageFolder } from "../../package.ts";
import { type Bench, buildRival, type Command, type Options, runTool } from "./bench.ts";
import {
	clockedRate,
	kafkaRate,
	natsLoopRate,
	nsqRate,
	nsqSent,
	perfTestRate,
	redisRate,
	stanRate,
} from "./tools-output.ts";

/** Size of a message, for all. */
export const BYTES = 1024;

/** The broker that both use; `run` is different for each run of a tool. */
export interface Opened {
	readonly url: string;
	readonly run: number;
}

/** A broker's own tool, and mqbench's settings for the same work. */
export interface Rival {
	readonly tool: string;
	/** The work of both. */
	readonly what: string;
	/** Messages of a run: enough for two seconds or so on two cores. */
	readonly messages: number;
	/** The system and workload of ours; both have the same messages, size, connections and inFlight. */
	readonly system: Options;
	readonly pattern: "publish" | "round-trip";
	readonly inFlight: number;
	command(bench: Bench, broker: Opened, messages: number): Promise<Command> | Command;
	/** Messages per second from the tool's output. `messages` is the number that it was to send. */
	rate(stdout: string, messages: number): number;
	/** Messages sent by a tool that runs for a fixed time. Left out if it sends a fixed number. */
	sent?(stdout: string): number;
	/** Removes the tool's messages from the broker; it is not measured. */
	after?(bench: Bench, broker: Opened, messages: number): Promise<void>;
	/** Its first second differs from the others (in Java), or its time includes its start. */
	readonly slowStart: boolean;
}

/** A broker that is started once, and all measurements on it. */
interface Contest {
	readonly rig: Options;
	readonly rivals: readonly Rival[];
}

/** The tools that mqbench is compared with, by the name that `tools.js` takes. */
export const contests: Readonly<Record<string, Contest>> = {
	nats: {
		rig: { broker: "nats", mode: "jetstream" },
		rivals: [
			natsLoop("core", {
				what: "core, publish and receive, 1000 in flight",
				messages: 600_000,
				system: { broker: "nats" },
				pattern: "round-trip",
			}),
			natsLoop("jetstream", {
				what: "JetStream, files, async publish, 1000 in flight",
				messages: 200_000,
				system: { broker: "nats", mode: "jetstream" },
				pattern: "publish",
			}),
		],
	},
	"nats-streaming": {
		rig: { broker: "nats-streaming" },
		rivals: [
			{
				tool: "stan-bench",
				what: "memory, async publish, 1000 in flight",
				messages: 100_000,
				system: { broker: "nats-streaming" },
				pattern: "publish",
				inFlight: 1000,
				command: ({ folder }, { url, run }, messages) => ({
					argv: [
						buildRival("stan-bench", folder, "github.com/nats-io/stan.go/examples/stan-bench"),
						...words(`-s ${url} -c test-cluster -id tool-${run} -np 1 -ns 0 -n ${messages}`),
						...words(`-ms ${BYTES} -mpa 1000 mqbench-tool-${run}`),
					],
				}),
				rate: stanRate,
				slowStart: false,
			},
		],
	},
	redis: {
		rig: { broker: "redis" },
		rivals: [
			{
				tool: "redis-benchmark",
				what: "XADD MAXLEN ~ 100000, -P 100",
				messages: 400_000,
				system: { broker: "redis", mode: "streams", maxLength: 100_000 },
				pattern: "publish",
				inFlight: 100,
				command({ world }, { url }, messages) {
					const { password, port } = new URL(url);
					return {
						argv: [
							findTool("redis-benchmark", world.env),
							...words(`-a ${password} -p ${port} -c 1 -P 100 -n ${messages} --csv`),
							...words(`XADD mqbench-tool MAXLEN ~ 100000 * p ${"x".repeat(BYTES)}`),
						],
					};
				},
				rate: redisRate,
				slowStart: false,
			},
		],
	},
	rabbitmq: {
		rig: { broker: "rabbitmq" },
		rivals: [
			{
				tool: "PerfTest",
				what: "classic queue, transient messages, confirms, 1000 in flight",
				messages: 100_000,
				system: { broker: "rabbitmq", persistent: false },
				pattern: "publish",
				inFlight: 1000,
				command: async (bench, { url, run }, messages) => ({
					argv: [
						...(await java(bench, rivalJars("perf-test"))),
						...words(`com.rabbitmq.perf.PerfTest --producers 1 --consumers 0 --size ${BYTES}`),
						// A queue for each run, which the broker removes when it is unused.
						...words(`--confirm 1000 --pmessages ${messages} --queue mqbench-tool-${run}`),
						...words("--auto-delete false --queue-args x-expires=20000"),
					],
					env: { URI: url },
				}),
				rate: perfTestRate,
				slowStart: true,
			},
		],
	},
	kafka: {
		rig: {
			broker: "kafka",
			// The tool makes no topic; its messages must not fill the disk.
			config: {
				"auto.create.topics.enable": true,
				"log.segment.bytes": 128 * 1024 ** 2,
				"log.retention.bytes": 256 * 1024 ** 2,
			},
		},
		rivals: [
			{
				tool: "producer-perf-test",
				what: "acks 1, linger 0, batches of 16 KiB, 10 000 in flight",
				messages: 300_000,
				system: { broker: "kafka", acks: 1, batch: "16KiB" },
				pattern: "publish",
				inFlight: 10_000,
				async command(bench, { url }, messages) {
					const batch = 16 * 1024;
					// With --record-size the tool draws every byte of every message, which costs more than sending it.
					const payload = path.join(bench.folder, "payload.txt");
					writeFileSync(payload, "x".repeat(BYTES));
					const memory = Math.ceil(10_000 / Math.floor(batch / (BYTES + 16))) * batch;
					const kafka = { name: "kafka", pom: pomOf(kafkaJars), sums: pinned(kafkaJars) };
					return {
						argv: [
							...(await java(bench, kafka)),
							...words("org.apache.kafka.tools.ProducerPerformance --topic mqbench-tool"),
							...words(`--num-records ${messages} --throughput -1 --payload-file ${payload}`),
							...words(`--producer-props bootstrap.servers=${url.replace("kafka://", "")}`),
							...words("acks=1 linger.ms=0 enable.idempotence=false retries=0"),
							...words(`max.in.flight.requests.per.connection=5 batch.size=${batch}`),
							`buffer.memory=${memory}`,
						],
					};
				},
				rate: kafkaRate,
				slowStart: true,
			},
		],
	},
	nsq: {
		rig: { broker: "nsq" },
		rivals: [
			{
				tool: "bench_writer",
				what: "one message, 1 in flight",
				messages: 30_000,
				system: { broker: "nsq" },
				pattern: "publish",
				inFlight: 1,
				/** It runs for a time: as long as the messages take at an expected rate. It writes to stderr. */
				command: ({ folder }, { url, run }, messages) => ({
					argv: [
						...["/bin/sh", "-c", '"$@" 2>&1', "sh"],
						buildRival("bench_writer", folder, "github.com/nsqio/nsq/bench/bench_writer"),
						...words(`-nsqd-tcp-address ${new URL(url).host} -topic mqbench-tool-${run}`),
						...words(`-size ${BYTES} -batch-size 1 -runfor ${Math.round(messages / 15)}ms`),
					],
					// It opens one connection for each of Go's processors.
					env: { GOMAXPROCS: "1" },
				}),
				rate: nsqRate,
				sent: nsqSent,
				async after(_, { url, run }) {
					const http = new URL(url).searchParams.get("http");
					const remove = `http://${http}/topic/delete?topic=mqbench-tool-${run}`;
					const answer = await fetch(remove, { method: "POST" });
					if (!answer.ok) throw new Error(`nsqd: ${await answer.text()}`);
				},
				slowStart: false,
			},
		],
	},
	mqtt: {
		rig: { broker: "mqtt", server: "mosquitto" },
		rivals: [
			{
				tool: "mosquitto_pub",
				what: "QoS 1, no subscriber, 1 in flight (--repeat)",
				messages: 30_000,
				system: { broker: "mqtt" },
				pattern: "publish",
				inFlight: 1,
				command({ world, folder }, { url, run }, messages) {
					const file = path.join(folder, "message.txt");
					writeFileSync(file, "x".repeat(BYTES));
					const { hostname, port, username, password } = new URL(url);
					return {
						argv: clocked([
							findTool("mosquitto_pub", world.env),
							...words(`-h ${hostname} -p ${port} -u ${username} -P ${password}`),
							...words(`-t mqbench-tool-${run} -V mqttv5 -q 1 --nodelay`),
							...words(`-f ${file} --repeat ${messages}`),
						]),
					};
				},
				rate: clockedRate,
				slowStart: true,
			},
		],
	},
	// Waiting messages must stay in memory, and nothing is flushed: that would be most of the time.
	artemis: {
		rig: { broker: "amqp", heap: "1GiB", config: { "journal-datasync": false } },
		rivals: [artemisPerf("memory"), artemisPerf("os")],
	},
	activemq: {
		rig: {
			broker: "amqp",
			server: "classic",
			heap: "1GiB",
			config: { "kahaDB.journalDiskSyncStrategy": "NEVER" },
		},
		rivals: [artemisPerf("memory"), artemisPerf("os")],
	},
};

// --- internal ---

function natsLoop(
	mode: "core" | "jetstream",
	rival: Pick<Rival, "what" | "messages" | "system" | "pattern">,
): Rival {
	return {
		...rival,
		tool: "nats.go loop",
		inFlight: 1000,
		command: ({ folder }, { url }, messages) => ({
			argv: [
				buildRival("nats-loop", folder),
				...words(`-url ${url} -mode ${mode} -bytes ${BYTES} -messages ${messages}`),
				...words(`-in-flight 1000 -warmup ${Math.round(messages / 10)}`),
			],
		}),
		rate: natsLoopRate,
		slowStart: false,
	};
}

/** `artemis perf producer`, which uses AMQP 1.0 through Qpid JMS, as mqbench does through its library. */
function artemisPerf(durability: "memory" | "os"): Rival {
	const durable = durability === "os";
	const perf =
		(what: string): Rival["command"] =>
		async (bench, { url, run }, messages) => {
			const { host, username, password } = new URL(url);
			return {
				argv: clocked([
					...(await java(bench, rivalJars("artemis-cli"))),
					...words(`org.apache.activemq.artemis.cli.Artemis perf ${what} --url amqp://${host}`),
					...words(`--user ${username} --password ${password} --protocol AMQP --silent`),
					...words(`--message-count ${messages} queue://mqbench-tool-${run}`),
				]),
			};
		};
	return {
		tool: "artemis perf producer",
		what: `${durable ? "durable, never flushed" : "not durable"}, no consumer, 1000 in flight`,
		messages: 100_000,
		system: { broker: "amqp", durability },
		pattern: "publish",
		inFlight: 1000,
		command: perf(
			`producer --max-pending 1000 --message-size ${BYTES}${durable ? " --persistent" : ""}`,
		),
		rate: clockedRate,
		async after(bench, broker, messages) {
			await runTool(bench, await perf("consumer")(bench, broker, messages));
		},
		slowStart: true,
	};
}

/** The command between two readings of the clock, for tools that print no rate: see `clockedRate`. */
function clocked(argv: readonly string[]): string[] {
	const clock = 'date "+mqbench:seconds=%s.%N"';
	return ["/bin/sh", "-c", `${clock}; "$@" || exit; ${clock}`, "sh", ...argv];
}

/** Path of a program of this machine. */
function findTool(name: string, env: Bench["world"]["env"]): string {
	const found = findOnPath(name, env);
	if (found === null) throw new Error(`${name} is not on PATH`);
	return found;
}

type Pom = Pick<JarsOptions, "name" | "pom" | "sums">;

/** A pom of `rivals/`. */
function rivalJars(name: string): Pom {
	const pom = path.join(packageFolder, "runner/tools/bench/rivals", `${name}.pom.xml`);
	return { name, pom, sums: null };
}

/** A JVM with the jars of a pom. */
async function java({ world }: Bench, pom: Pom): Promise<string[]> {
	const jars = await resolveJars({
		...pom,
		system: pom.name,
		properties: {},
		mvn: findTool("mvn", world.env),
		world,
	});
	return [
		findTool("java", world.env),
		...words("-Xms256m -Xmx256m -XX:+UseG1GC -cp"),
		path.join(jars, "*"),
	];
}

/** The arguments of a command as typed; none of them has a blank in it. */
function words(line: string): string[] {
	return line.split(" ");
}
