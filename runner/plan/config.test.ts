import { describe, expect, test } from "vitest";
import { brokerOf, realBrokers } from "../brokers/index.ts";
import { MqbenchError } from "../errors.ts";
import { planOf } from "./plans.fake.ts";

const REDIS = "broker: redis, mode: streams";
const JETSTREAM = "broker: nats, mode: jetstream";
const KAFKA = "broker: kafka";

/** The sentence that refuses a system, or "". */
function refusal(system: string): string {
	try {
		planOf("rate: 10/s, duration: 1s", `target: local\nsystem: { ${system} }`);
		return "";
	} catch (error) {
		if (!(error instanceof MqbenchError)) throw error;
		return (error.message.split("\n")[0] ?? "").replace(/^\S+ /, "");
	}
}

describe("config has neither mqbench's own settings nor two in one", () => {
	test.each([
		[REDIS, "dir Port slaveof unixsocket"],
		[JETSTREAM, "listen Port server_name jetstream.store_dir store_dir http logfile"],
		[JETSTREAM, "cluster.routes cluster.listen gateway.name"],
		[KAFKA, "log.dirs log.dir listeners advertised.listeners node.id port process.roles"],
		[KAFKA, "controller.quorum.voters"],
		["broker: rabbitmq", "listeners.tcp.1 listeners.ssl.default default_user log.file"],
		["broker: rabbitmq", "cluster_formation.peer_discovery_backend"],
	])("%s: %s", (system, keys) => {
		for (const key of keys.split(" "))
			expect(refusal(`${system}, config: { ${key}: x }`)).toMatch(`mqbench sets ${key} itself`);
		for (const key of ["appendonly", "maxmemory"])
			expect(refusal(`${REDIS}, config: { ${key}: "yes" }`)).not.toMatch("itself");
	});

	test.each(
		realBrokers.filter(takesConfig).flatMap((broker) =>
			["\\n", "\\r", "\\u0085", "\\u2028"].flatMap((end) => [
				[broker, `{ "a": "1${end}listen 2" }`],
				[broker, `{ "a${end}b": 1 }`],
			]),
		),
	)("%s: %s does not fit on a line", (broker, config) => {
		expect(refusal(`broker: ${broker}, config: ${config}`)).toMatch(
			/does not fit on a line of \S+; use letters/,
		);
	});
});

function takesConfig(broker: string): boolean {
	return "config" in brokerOf({ broker }).options.shape;
}
