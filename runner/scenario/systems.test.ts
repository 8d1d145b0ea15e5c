import { describe, expect, test } from "vitest";
import { BrokerName, brokerOf, hasProcess, loginUrl } from "../brokers/index.ts";
import { MqbenchError } from "../errors.ts";
import { loadScenario } from "./load.ts";
import { resolveUrl } from "./variables.ts";

function refusal(text: string) {
	try {
		loadScenario("s.yaml", `workload: { rate: 3000/s, message: 256B, duration: 10s }\n${text}`);
	} catch (error) {
		if (error instanceof MqbenchError) return error.message;
		throw error;
	}
	throw new Error("the scenario was taken");
}

describe("a password", () => {
	test.each(BrokerName.options.filter((broker) => hasProcess({ broker })))(
		"goes into the environment of %s as the message says, and works at once",
		(name) => {
			const broker = brokerOf({ broker: name });
			const { url, variable } = loginUrl(broker);
			const [[scheme, port] = []] = Object.entries(broker.urls);
			const text = `target: existing\nsystem: { broker: ${name}, url: "${scheme}://me:hunter2@h" }\n`;
			expect(refusal(text)).toContain(
				`write url: "${url}", and ${variable}=... before the command`,
			);
			expect(refusal(text)).not.toContain("hunter2");
			expect(resolveUrl(url, broker, { [variable]: "hunter/2@" }, true)).toEqual({
				url: `${scheme}://${broker.urlUser ?? "user"}:hunter%2F2%40@host:${port}`,
			});
		},
	);

	test("may not be a token in the file either", () => {
		expect(
			refusal('target: existing\nsystem: { broker: nats, url: "nats://token@h:4222" }\n'),
		).toContain("url holds a password or token");
	});

	test("hides behind as many stars, so that the caret stays right", () => {
		expect(refusal(`system: { broker: nats, url: "nats://me:x@h:4222", prot: 1 }\n`)).toContain(
			`s.yaml:2:52 unknown key "prot"; did you mean port?\n   2 | system: { broker: nats, url: "nats://****@h:4222", prot: 1 }\n     | ${" ".repeat(51)}^`,
		);
	});
});
