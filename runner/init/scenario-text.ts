import { brokerOf, SystemOptions, variable } from "../brokers/index.ts";
import type { Pattern } from "../model/workload.ts";
import type { Answers } from "./answers.ts";

/** The scenario's YAML, with a comment wherever a newcomer would ask. */
export function scenarioText(name: string, answers: Answers): string {
	const { broker, pattern, rate, message, duration, p99 } = answers;
	const system = systemOf(answers);
	return `# yaml-language-server: $schema=./scenario.schema.json
# Try it: mqbench plan ${name}.yaml   Run it: mqbench ${name}.yaml
name: ${name}
${system}
workload:
  pattern: ${pattern} # ${MEANING[pattern]}
  rate: ${rate} # open loop: sent at this rate whatever the broker does
  message: ${message}
  duration: ${duration} # after a warm-up of 5s
${more(pattern)}sla: # decides the exit code: 0 met, 99 breached
  - ${metricOf(pattern)}p99 < ${p99}
${lossOf(broker, pattern)}`;
}

// --- internal ---

function systemOf({ broker, url }: Answers): string {
	if (url === "")
		return `system: ${broker} # mqbench starts one on this machine (in a container: --target docker); to compare, name several under systems:`;
	const written = /^[A-Z][A-Z0-9_]*$/.test(url) ? variable(url) : url;
	return `target: existing # your broker: nothing is deleted that mqbench did not make
system: { broker: ${broker}, url: "${written}" }`;
}

const MEANING: Readonly<Record<Pattern, string>> = {
	"round-trip": "each connection receives what it sent",
	"request-reply": "a responder sends each message back",
	"fan-out": "every subscriber gets every message",
	"work-queue": "consumers share the messages, each goes to one",
	publish: "no consumers: until the broker has acknowledged",
	backlog: "consumers pause, messages pile up, then they catch up",
};

function more(pattern: Pattern): string {
	switch (pattern) {
		case "fan-out":
			return "  subscriptions: 10 # subscribers\n";
		case "work-queue":
			return "  consumers: 2\n";
		case "request-reply":
			return "  consumers: 1 # responders\n";
		case "backlog":
			return "  backlog: 5000 # messages that pile up\n";
		default:
			return "";
	}
}

/** A backlog has no response time: what its producers feel is the acknowledgement. */
function metricOf(pattern: Pattern): string {
	return pattern === "backlog" ? "ack " : "";
}

function lossOf(broker: Answers["broker"], pattern: Pattern): string {
	if (pattern === "publish") return "  - failed == 0\n";
	const { acks } = brokerOf({ broker }).traits(SystemOptions.parse({ broker }));
	return `  - lost == 0 # ${acks ? "acknowledged and not received" : "sent and not received: this system acknowledges nothing"}\n`;
}
