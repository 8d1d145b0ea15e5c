import path from "node:path";
import { server } from "../../../brokers/amqp/process.ts";
import { packageFolder } from "../../../package.ts";
import { clockedRate } from "../tools-output.ts";
import { type Bench, runTool } from "../tools-run.ts";
import {
	BYTES,
	type Contest,
	clocked,
	findJars,
	findTool,
	type Opened,
	type Rival,
} from "./rival.ts";

const IN_FLIGHT = 1000;
const SENDING = ["--max-pending", String(IN_FLIGHT), "--message-size", String(BYTES)];

/** ActiveMQ Artemis beside `artemis perf`, which speaks AMQP 1.0 through Qpid JMS. */
export const artemis: Contest = {
	// What waits is to stay in memory, and nothing is flushed: that would be most of the time.
	rig: { broker: "amqp", heap: "1GiB", config: { "journal-datasync": false } },
	rivals: [perfClient(), perfProducer("memory"), perfProducer("os")],
	rates: { broker: "amqp", durability: "memory" },
};

/** `activemq producer` speaks OpenWire alone: mqbench's server gets a port for it. */
const OPENWIRE = "tcp://127.0.0.1:61699";

/** ActiveMQ Classic beside its own tool, and beside Artemis's, which speaks the protocol that mqbench does. */
export const activemq: Contest = {
	rig: {
		broker: "amqp",
		server: "classic",
		heap: "1GiB",
		config: { "kahaDB.journalDiskSyncStrategy": "NEVER" },
	},
	starts: {
		...server.process,
		async describe(setup) {
			const made = await server.process.describe(setup);
			const end = "</transportConnectors>";
			const connector = `<transportConnector name="openwire" uri="${OPENWIRE}"/>`;
			return {
				...made,
				nodes: made.nodes.map(({ files, ...node }) => ({
					...node,
					files: {
						...files,
						"activemq.xml": files["activemq.xml"]?.replace(end, connector + end) ?? "",
					},
				})),
			};
		},
	},
	rivals: [
		{
			tool: "activemq producer",
			what: `durable, never flushed, nobody receives, 1 in flight`,
			unequal:
				"the tool speaks OpenWire, mqbench AMQP 1.0, which the server translates into OpenWire",
			messages: 20_000,
			system: { broker: "amqp", durability: "os" },
			pattern: "publish",
			inFlight: 1,
			command: activemqCommand("producer", [
				"--messageSize",
				String(BYTES),
				"--persistent",
				"true",
			]),
			rate: clockedRate,
			async after(bench, broker, messages) {
				const consume = activemqCommand("consumer", []);
				await runTool(bench, await consume(bench, broker, messages));
			},
			slowStart: true,
		},
		perfClient(),
		perfProducer("memory"),
		perfProducer("os"),
	],
	rates: { broker: "amqp", server: "classic", durability: "memory" },
};

// --- internal ---

function perfProducer(durability: "memory" | "os"): Rival {
	const durable = durability === "os";
	return {
		tool: "artemis perf producer",
		what: `${durable ? "durable, never flushed" : "not durable"}, nobody receives, ${IN_FLIGHT} in flight`,
		messages: 100_000,
		system: { broker: "amqp", durability },
		pattern: "publish",
		inFlight: IN_FLIGHT,
		command: perfCommand("producer", [...(durable ? ["--persistent"] : []), ...SENDING]),
		rate: clockedRate,
		async after(bench, broker, messages) {
			const consume = perfCommand("consumer", []);
			await runTool(bench, await consume(bench, broker, messages));
		},
		slowStart: true,
	};
}

function perfClient(): Rival {
	return {
		tool: "artemis perf client",
		what: `not durable, publish and receive, ${IN_FLIGHT} in flight`,
		unequal: `the tool has ${IN_FLIGHT} messages that are not acknowledged; mqbench ${IN_FLIGHT} that are not received. The tool receives on a connection of its own, with Qpid JMS's credit of 1000; mqbench on the connection that sends, with as much`,
		messages: 100_000,
		system: { broker: "amqp", durability: "memory", prefetch: 1000 },
		pattern: "round-trip",
		inFlight: IN_FLIGHT,
		command: perfCommand("client", SENDING),
		rate: clockedRate,
		slowStart: true,
	};
}

function perfCommand(
	what: "producer" | "consumer" | "client",
	options: readonly string[],
): Rival["command"] {
	return async (bench, broker, messages) => ({
		argv: clocked([
			...(await java(bench, "artemis-cli")),
			"org.apache.activemq.artemis.cli.Artemis",
			"perf",
			what,
			"--url",
			`amqp://${new URL(broker.url).host}`,
			...loginOf(broker),
			"--protocol",
			"AMQP",
			"--silent",
			"--message-count",
			String(messages),
			...options,
			queueOf(broker),
		]),
	});
}

function loginOf({ url }: Opened): string[] {
	const { username, password } = new URL(url);
	return ["--user", username, "--password", password];
}

function activemqCommand(
	what: "producer" | "consumer",
	options: readonly string[],
): Rival["command"] {
	return async (bench, broker, messages) => ({
		argv: clocked([
			...(await java(bench, "activemq-console")),
			"org.apache.activemq.console.command.ShellCommand",
			what,
			"--brokerUrl",
			OPENWIRE,
			...loginOf(broker),
			"--destination",
			queueOf(broker),
			"--messageCount",
			String(messages),
			...options,
		]),
	});
}

/** A JVM with the jars of a pom beside this file. */
async function java(bench: Bench, name: string): Promise<string[]> {
	const jars = await findJars(bench, {
		name,
		pom: path.join(packageFolder, "runner/tools/bench/rivals", `${name}.pom.xml`),
		sums: null,
		system: "amqp",
	});
	return [
		findTool("java", bench.world.env),
		"-Xms256m",
		"-Xmx256m",
		"-XX:+UseG1GC",
		"-cp",
		path.join(jars, "*"),
	];
}

function queueOf({ run }: Opened): string {
	return `queue://mqbench-tool-${run}`;
}
