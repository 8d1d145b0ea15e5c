import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { Plan } from "../../model/plan.ts";
import { RunFile } from "../../model/run-file.ts";
import { resultOf } from "./mqbench.ts";

/** For tests: a line of a broker's log, with its node and its time. */
export interface LogLine {
	readonly node: number;
	/** Unix ms. */
	readonly atMs: number;
	readonly text: string;
}

/** For tests: the one fault of a command's run `index`, what the scorecard says of it, and what the brokers say. */
export function failoverOf(out: string, index = 0) {
	const name = readdirSync(path.join(out, "runs")).sort()[index] ?? "";
	const read = (file: string) =>
		readFileSync(path.join(out, "runs", name, file), "utf8");
	const { faults } = RunFile.parse(JSON.parse(read("run.json")));
	const plan = Plan.parse(JSON.parse(read("plan.json")));
	const [fault] = faults;
	const card = resultOf(out).runs[index]?.failover[0];
	if (!fault || !card) throw new Error(`${name} tells of no fault`);
	return { fault, card, plan, log: readBrokerLog(read("broker.log")) };
}

/**
 * Lines that begin with the number of a node, where there are several, and a time: mqbench's own ("2026-11-20T10:17:46.123Z ..."), and those
 * of nats-server, which has its process before and UTC by our configuration ("[4711] 2026/11/20 10:17:46.123456 ...").
 */
export function readBrokerLog(text: string): LogLine[] {
	return text.split("\n").flatMap((line) => {
		const [, node = "1", day = "", time = "", rest = ""] =
			/^(?:\[(\d+)\] )?(?:\[\d+\] )?(\d{4}[-/]\d\d[-/]\d\d)[T ]([\d:.]+)Z? (.*)$/.exec(
				line,
			) ?? [];
		const atMs = Date.parse(`${day.replaceAll("/", "-")}T${time}Z`);
		return Number.isNaN(atMs) ? [] : [{ node: Number(node), atMs, text: rest }];
	});
}

/** When mqbench noted that it had done this, Unix ms. */
export function noted(log: readonly LogLine[], what: string): number {
	const found = log.find(({ text }) => text === `mqbench: ${what}`);
	if (!found) throw new Error(`the log does not say: ${what}`);
	return found.atMs;
}

/** Who began to lead a JetStream, and when, by its own word. */
export function streamLeaders(log: readonly LogLine[]): LogLine[] {
	return log.filter(({ text }) => text.includes("new stream leader for "));
}

/** Who began to lead a partition of Kafka, when, and at which offset, by its own word. */
export function partitionLeaders(
	log: readonly LogLine[],
): (LogLine & { readonly epoch: number; readonly offset: number })[] {
	return log.flatMap((line) => {
		const [, id, epoch, offset] =
			/\[Broker id=(\d+)\] Leader mqbench\.\S+ .*starts at leader epoch (\d+) from offset (\d+) /.exec(
				line.text,
			) ?? [];
		return id === undefined || Number(id) !== line.node
			? []
			: [{ ...line, epoch: Number(epoch), offset: Number(offset) }];
	});
}
