import { expect, test } from "vitest";
import { hostSetup } from "../../../infra/hosts/setup.fake.ts";
import type { Tools } from "../process.ts";
import { process as sqs } from "./process.ts";

/** On a host, with jars that are there already. */
function setup(written: Readonly<Record<string, unknown>> = {}) {
	const made = hostSetup({ broker: "sqs", ...written }, { said: 'openjdk version "17.0.1" 2021' });
	const tools: Tools = {
		...made.tools,
		findOnPath: (name) => `/usr/bin/${name}`,
		jars: async ({ name }) => `/cache/${name}`,
	};
	return { ...made, tools };
}

test("ElasticMQ listens at one address alone, under the limits of Amazon's service", async () => {
	const { nodes, url, settings } = await sqs.describe(
		setup({ config: { "rest-sqs.sqs-limits": "relaxed" } }),
	);
	expect(nodes[0]?.files["elasticmq.conf"]).toBe(
		`include classpath("application.conf")
node-address.protocol = "http"
node-address.host = "10.0.0.1"
node-address.port = 9324
rest-sqs.bind-hostname = "10.0.0.1"
rest-sqs.bind-port = 9324
rest-stats.enabled = false
rest-sqs.sqs-limits = "relaxed"
`,
	);
	expect(nodes[0]?.argv.join(" ")).toContain("-cp /brought/elasticmq/* org.elasticmq.server.Main");
	expect(url()).toBe("http://10.0.0.1:9324");
	expect(settings).toMatchObject({ "rest-sqs.sqs-limits": "relaxed" });
});

test("it is up when it says so, with its version", async () => {
	const { ready, version } = await sqs.describe(setup());
	expect(ready("Starting ElasticMQ server (1.6.12) ...", 0)).toBe(false);
	expect(ready("=== ElasticMQ server (1.6.12) started in 1512 ms ===", 0)).toBe(true);
	expect(version()).toBe("ElasticMQ 1.6.12");
});

test("a version whose jars nobody has written down is named in reports", async () => {
	const { settings } = await sqs.describe(setup({ version: "1.6.0" }));
	expect(settings.jars).toContain("ElasticMQ 1.6.0");
});
