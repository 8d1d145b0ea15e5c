import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { type BrokerLine, readBrokerLog } from "../../evidence/broker-log.ts";
import { Plan } from "../../model/plan.ts";
import { RunFile } from "../../model/run-file.ts";
import { resultOf } from "./mqbench.ts";

/** For tests: the one fault of a command's run `index`, its scorecard, and the brokers' logs. */
export function failoverOf(out: string, index = 0) {
	const name = readdirSync(path.join(out, "runs")).sort()[index] ?? "";
	const file = (one: string) => path.join(out, "runs", name, one);
	const read = (one: string) => readFileSync(file(one), "utf8");
	const { faults } = RunFile.parse(JSON.parse(read("run.json")));
	const plan = Plan.parse(JSON.parse(read("plan.json")));
	const [fault] = faults;
	const card = resultOf(out).runs[index]?.failover[0];
	const log = readBrokerLog(file("broker.log"));
	if (!fault || !card || !log) throw new Error(`${name} tells of no fault, or its broker nothing`);
	return { fault, card, plan, log: [...log] };
}

/** When mqbench noted that it had done this, Unix ms. */
export function noted(log: readonly BrokerLine[], what: string): number {
	const found = log.find(({ text }) => text === `mqbench: ${what}`);
	if (!found) throw new Error(`the log does not say: ${what}`);
	return found.atMs;
}

/** The node that began to lead a JetStream, and when, by its log. */
export function streamLeaders(log: readonly BrokerLine[]): BrokerLine[] {
	return log.filter(({ text }) => text.includes("new stream leader for "));
}

/** The node that began to lead a Kafka partition, when, and at which offset, by its log. */
export function partitionLeaders(
	log: readonly BrokerLine[],
): (BrokerLine & { readonly epoch: number; readonly offset: number })[] {
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
