import type { Check, Finding } from "./finding.ts";
import type { Machine } from "./machine.ts";

/**
 * What each broker needs where mqbench starts it (target local), and whether it is here. What is missing speaks against nothing but
 * that broker; a run that needs it says how to install it on this platform.
 */
export const brokerChecks: readonly Check[] = [
	{ name: "NATS", alone: false, look: nats },
	{ name: "Kafka", alone: false, look: kafka },
	{ name: "Redis", alone: false, look: redis },
	{ name: "RabbitMQ", alone: false, look: rabbitmq },
	{ name: "pin", alone: false, look: pin },
];

// --- internal ---

function nats(): Finding[] {
	return here(
		"NATS",
		"built in",
		"Core and JetStream: mqbench brings nats-server as natsd; another build is named by binary.",
	);
}

const OLDEST_JAVA = 17;

async function kafka(machine: Machine): Promise<Finding[]> {
	// Its version stands in quotes, on stderr.
	const said = await machine.run("java", "-version");
	const java = /version "((?:1\.)?(\d+)[^"]*)"/.exec(said ?? "");
	const needs = `Kafka needs Java ${OLDEST_JAVA} or newer, and Maven on PATH (which fetches Kafka once) or KAFKA_HOME.`;
	if (!java) return missing("Kafka", "no Java", needs);
	if (Number(java[2]) < OLDEST_JAVA)
		return missing("Kafka", `Java ${java[1]} is too old`, needs);
	const from = machine.env.KAFKA_HOME
		? "KAFKA_HOME"
		: (await machine.which("mvn"))
			? "Maven"
			: null;
	return from === null
		? missing("Kafka", `Java ${java[1]}, no Maven`, needs)
		: here(
				"Kafka",
				`Java ${java[1]}, ${from}`,
				from === "Maven"
					? "The first run of Kafka fetches it with Maven, 45 MB once."
					: "Kafka is run from there.",
			);
}

async function redis(machine: Machine): Promise<Finding[]> {
	const said = await machine.run("redis-server", "--version");
	const version = /v=(\S+)/.exec(said ?? "")?.[1];
	if (version !== undefined || (await machine.which("redis-server")))
		return here(
			"Redis",
			`redis-server ${version ?? ""}`.trim(),
			"It is run on a free port, with its data in a temporary folder.",
		);
	if (await machine.which("valkey-server"))
		return here(
			"Redis",
			"valkey-server",
			"Name it in the scenario: { broker: redis, binary: valkey-server }.",
		);
	return missing(
		"Redis",
		"not found",
		"Redis needs redis-server or valkey-server on PATH.",
	);
}

async function rabbitmq(machine: Machine): Promise<Finding[]> {
	const found = await machine.which("rabbitmq-server");
	return found === null
		? missing(
				"RabbitMQ",
				"not found",
				"RabbitMQ needs rabbitmq-server (and Erlang, which comes with it) on PATH.",
			)
		: here(
				"RabbitMQ",
				found,
				"It is run as a node of its own, with its own name, cookie and folders.",
			);
}

/** Of the scenario's `pin`. */
async function pin(machine: Machine): Promise<Finding[]> {
	return (await machine.which("taskset"))
		? here(
				"pin",
				"taskset",
				"Generator and brokers can have CPUs of their own.",
			)
		: missing(
				"pin",
				"no taskset",
				"A scenario with pin needs taskset (Linux, package util-linux).",
			);
}

function here(check: string, figure: string, sentence: string): Finding[] {
	return [{ check, verdict: "ok", figure, sentence, remedy: null }];
}

/** No verdict on the machine: most scenarios need one broker of all. */
function missing(check: string, figure: string, sentence: string): Finding[] {
	return [{ check, verdict: "info", figure, sentence, remedy: null }];
}
