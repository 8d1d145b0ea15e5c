import { buildRival } from "../programs.ts";
import { nsqRate, nsqSent } from "../tools-output.ts";
import type { Bench, Command } from "../tools-run.ts";
import { BYTES, type Contest, type Opened, type Rival } from "./rival.ts";

/** Messages of a command of the tool's (MPUB), and those that a consumer has at most (RDY), which are the tools' own defaults. */
const BATCH = 200;
const READY = 2500;

export const nsq: Contest = {
	rig: { broker: "nsq" },
	rivals: [
		{
			tool: "bench_writer",
			what: "one message, 1 in flight",
			messages: 30_000,
			system: { broker: "nsq" },
			pattern: "publish",
			inFlight: 1,
			...bench("bench_writer", 1, 15_000),
		},
		{
			tool: "bench_writer",
			what: `${BATCH} messages in flight`,
			unequal: `the tool sends ${BATCH} messages in one command (MPUB) that is answered once, and waits; mqbench sends each by itself (PUB) and gets an answer for each`,
			messages: 200_000,
			system: { broker: "nsq" },
			pattern: "publish",
			inFlight: BATCH,
			...bench("bench_writer", BATCH, 100_000),
		},
		{
			tool: "writer and reader",
			what: `publish and receive, ${READY} with the consumer`,
			unequal: `bench_writer sends by ${BATCH} (MPUB) and is not bounded by bench_reader, which writes its answers (FIN) together; mqbench has at most ${READY} messages on their way and answers each`,
			messages: 100_000,
			system: { broker: "nsq", prefetch: READY, outputBuffer: "default" },
			pattern: "round-trip",
			inFlight: READY,
			...bench("bench_reader", BATCH, 50_000),
		},
	],
	rates: { broker: "nsq" },
};

// --- internal ---

/** Both programs run for a time: as long as `messages` take at a rate that they are expected to reach, and count what they have done. */
function bench(
	counts: "bench_writer" | "bench_reader",
	batch: number,
	perSecond: number,
): Pick<Rival, "command" | "rate" | "sent" | "after" | "slowStart"> {
	return {
		async command(bench, broker, messages) {
			const options = [
				"-nsqd-tcp-address",
				new URL(broker.url).host,
				"-topic",
				topicOf(broker),
				"-size",
				String(BYTES),
				"-runfor",
				`${Math.round((messages / perSecond) * 1000)}ms`,
			];
			const writer = [program(bench, "bench_writer"), ...options, "-batch-size", String(batch)];
			const reader = [program(bench, "bench_reader"), ...options, "-rdy", String(READY)];
			return counts === "bench_writer" ? alone(writer) : together(reader, writer);
		},
		rate: nsqRate,
		sent: nsqSent,
		async after(_, broker) {
			const { searchParams } = new URL(broker.url);
			const answer = await fetch(
				`http://${searchParams.get("http")}/topic/delete?topic=${topicOf(broker)}`,
				{ method: "POST" },
			);
			if (!answer.ok) throw new Error(`nsqd: ${await answer.text()}`);
		},
		slowStart: false,
	};
}

function program(bench: Bench, name: string): string {
	return buildRival(name, bench.folder, `github.com/nsqio/nsq/bench/${name}`);
}

/** As many connections as Go has processors. */
const ONE_CONNECTION = { GOMAXPROCS: "1" };

/** They write to stderr. */
function alone(writer: readonly string[]): Command {
	return { argv: ["/bin/sh", "-c", '"$@" 2>&1', "sh", ...writer], env: ONE_CONNECTION };
}

/** What the second one prints is dropped. */
function together(reader: readonly string[], writer: readonly string[]): Command {
	return {
		argv: [
			"/bin/sh",
			"-c",
			`"$@" 2>/dev/null & ${reader.map(quoted).join(" ")} 2>&1; code=$?; wait; exit $code`,
			"sh",
			...writer,
		],
		env: ONE_CONNECTION,
	};
}

function quoted(word: string): string {
	return `'${word.replaceAll("'", "'\\''")}'`;
}

function topicOf({ run }: Opened): string {
	return `mqbench-tool-${run}`;
}
