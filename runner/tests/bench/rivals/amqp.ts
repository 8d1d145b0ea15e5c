import path from "node:path";
import { packageFolder } from "../../../package.ts";
import { artemisRate } from "../tools-output.ts";
import { type Bench, type Command, runTool } from "../tools-run.ts";
import {
	BYTES,
	type Contest,
	findJars,
	findTool,
	type Opened,
	type Rival,
} from "./rival.ts";

const IN_FLIGHT = 1000;

/** `artemis perf`, which speaks AMQP 1.0 by Qpid JMS, against ActiveMQ Artemis. */
export const artemis: Contest = {
	// Flushed to no disk, as that would be most of the time.
	rig: { broker: "amqp", config: { "journal-datasync": false } },
	rivals: [
		perfProducer("artemis perf producer", true),
		perfProducer("artemis perf producer", false),
		perfClient("artemis perf client"),
	],
	rates: { broker: "amqp", durability: "memory" },
};

/** There is a tool of its own, which speaks OpenWire alone; Artemis's speaks the protocol that mqbench does. */
export const classic: Contest = {
	rig: {
		broker: "amqp",
		server: "classic",
		config: { "kahaDB.journalDiskSyncStrategy": "NEVER" },
	},
	rivals: [
		perfProducer("artemis perf producer", true),
		perfProducer("artemis perf producer", false),
		perfClient("artemis perf client"),
	],
	rates: { broker: "amqp", server: "classic", durability: "memory" },
};

// --- internal ---

function perfProducer(tool: string, durable: boolean): Rival {
	return {
		tool,
		what: `${durable ? "durable messages, never flushed" : "messages that are not durable"}, nobody receives, ${IN_FLIGHT} in flight`,
		messages: 40_000,
		system: { broker: "amqp", durability: durable ? "os" : "memory" },
		pattern: "publish",
		inFlight: IN_FLIGHT,
		async command(bench, broker, messages) {
			return perf(bench, "producer", [
				...(durable ? ["--persistent"] : []),
				...["--max-pending", String(IN_FLIGHT)],
				...["--message-size", String(BYTES)],
				...toolOptions(broker, messages),
			]);
		},
		rate: artemisRate,
		async after(bench, broker, messages) {
			await runTool(
				bench,
				await perf(bench, "consumer", toolOptions(broker, messages)),
			);
		},
		slowStart: true,
	};
}

function perfClient(tool: string): Rival {
	return {
		tool,
		what: `messages that are not durable, publish and receive, ${IN_FLIGHT} in flight`,
		messages: 40_000,
		system: { broker: "amqp", durability: "memory" },
		pattern: "round-trip",
		inFlight: IN_FLIGHT,
		async command(bench, broker, messages) {
			return perf(bench, "client", [
				...["--max-pending", String(IN_FLIGHT)],
				...["--message-size", String(BYTES)],
				...toolOptions(broker, messages),
			]);
		},
		rate: artemisRate,
		slowStart: true,
	};
}

function toolOptions({ url, run }: Opened, messages: number): string[] {
	return [
		...["--url", url, "--protocol", "AMQP", "--silent"],
		...["--message-count", String(messages)],
		`queue://mqbench-tool-${run}`,
	];
}

async function perf(
	bench: Bench,
	what: string,
	options: readonly string[],
): Promise<Command> {
	const jars = await findJars(bench, {
		name: "artemis-cli",
		pom: path.join(
			packageFolder,
			"runner/tests/bench/rivals/artemis-cli.pom.xml",
		),
		sums: null,
		system: "amqp",
	});
	return {
		argv: [
			findTool("java", bench.world.env),
			...["-Xms256m", "-Xmx256m", "-XX:+UseG1GC"],
			...["-cp", path.join(jars, "*")],
			...["org.apache.activemq.artemis.cli.Artemis", "perf", what],
			...options,
		],
	};
}
