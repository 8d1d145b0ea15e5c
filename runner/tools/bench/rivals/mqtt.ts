import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { clockedRate } from "../tools-output.ts";
import type { Bench } from "../tools-run.ts";
import { BYTES, CLOCK, type Contest, clocked, findTool, type Rival } from "./rival.ts";

/** MQTT's receive maximum, of mosquitto and of mqbench. */
const IN_FLIGHT = 20;

const LINES =
	"the tool gets its messages as lines of a file, and has other ones beside the 20 in memory";

export const mqtt: Contest = {
	rig: { broker: "mqtt", server: "mosquitto" },
	rivals: [
		{
			tool: "mosquitto_pub",
			what: "QoS 1, nobody subscribed, 1 in flight (--repeat)",
			messages: 30_000,
			system: { broker: "mqtt" },
			pattern: "publish",
			inFlight: 1,
			command: repeat(),
			rate: clockedRate,
			slowStart: true,
		},
		{
			tool: "mosquitto_pub",
			what: `QoS 1, nobody subscribed, ${IN_FLIGHT} in flight (-l)`,
			unequal: LINES,
			messages: 60_000,
			system: { broker: "mqtt" },
			pattern: "publish",
			inFlight: IN_FLIGHT,
			command: lines(false),
			rate: clockedRate,
			slowStart: true,
		},
		{
			tool: "pub -l and sub -C",
			what: "QoS 1, publish and receive, 1000 in flight",
			unequal: `${LINES}; mosquitto_pub is not bounded by mosquitto_sub, so mosquitto queues; mqbench has at most 1000 messages on their way`,
			messages: 40_000,
			system: { broker: "mqtt" },
			pattern: "round-trip",
			inFlight: 1000,
			command: lines(true),
			rate: clockedRate,
			slowStart: true,
		},
	],
	rates: { broker: "mqtt" },
};

// --- internal ---

/** Where a program connects, and how. */
function options(url: string, run: number): string[] {
	const { hostname, port, username, password } = new URL(url);
	return [
		"-h",
		hostname,
		"-p",
		port,
		"-u",
		username,
		"-P",
		password,
		"-t",
		`mqbench-tool-${run}`,
		"-V",
		"mqttv5",
		"-q",
		"1",
		"--nodelay",
	];
}

/** The same message again when the one before is acknowledged. */
function repeat(): Rival["command"] {
	return async (bench, { url, run }, messages) => {
		const file = path.join(bench.folder, "message.txt");
		writeFileSync(file, "x".repeat(BYTES));
		return {
			argv: clocked([
				findTool("mosquitto_pub", bench.world.env),
				...options(url, run),
				"-f",
				file,
				"--repeat",
				String(messages),
			]),
		};
	};
}

/** Lines as messages, until the last is acknowledged, or received. */
function lines(received: boolean): Rival["command"] {
	return async (bench, { url, run }, messages) => {
		const publish = '"$@" <"$lines" || exit';
		const subscribe = `"$sub" -C ${messages} ${options(url, run).join(" ")} >/dev/null & sleep 0.5; `;
		return {
			argv: [
				"/bin/sh",
				"-c",
				`${received ? subscribe : ""}${CLOCK}; ${publish}; ${received ? "wait $!; " : ""}${CLOCK}`,
				"sh",
				findTool("mosquitto_pub", bench.world.env),
				...options(url, run),
				"-l",
				"-M",
				String(IN_FLIGHT),
			],
			env: {
				lines: linesOf(bench, messages),
				...(received ? { sub: findTool("mosquitto_sub", bench.world.env) } : {}),
			},
		};
	};
}

function linesOf(bench: Bench, messages: number): string {
	const file = path.join(bench.folder, `lines-${messages}.txt`);
	if (!existsSync(file)) writeFileSync(file, `${"x".repeat(BYTES)}\n`.repeat(messages));
	return file;
}
