import type { OfficialImage } from "../broker.ts";
import type { Jars } from "../jars.ts";
import { jvmProgram, onJvm } from "../java.ts";
import { lines, says, server } from "../process.ts";
import type { SqsOptions } from "./options.ts";

export const image: OfficialImage = {
	name: "softwaremill/elasticmq",
	version: "1.6.12",
	suffix: "",
};

/** ElasticMQ, and what it needs at run time. */
export const jars: Jars = {
	title: "ElasticMQ",
	name: "elasticmq",
	folder: "sqs",
	version: image.version,
};

/** ElasticMQ: `strict`, as Amazon's service, or `relaxed`, without limits. */
export const LIMITS = "rest-sqs.sqs-limits";

/** ElasticMQ, on Java from jars that Maven fetches; in containers from softwaremill/elasticmq, which reads the same file. */
export const process = server<SqsOptions>({
	packages: ["default-jre-headless"],
	program: jvmProgram(() => jars),
	onHosts: {
		text: (version = image.version) => `ElasticMQ ${version}, copied, on the host's Java`,
		anyVersion: true,
	},
	container: { folder: "/opt", data: "/data" },
	ports: 9324,
	async launch(setup, { config }) {
		const jvm = await onJvm(setup, jars, {
			defines: ({ folder }) => [`-Dconfig.file=${folder}/elasticmq.conf`],
			inImage: "/opt/elasticmq/lib",
		});
		// The limits of Amazon's service, as it is without a word.
		const settings = { [LIMITS]: "strict", ...config };
		return {
			says: says(
				"ElasticMQ",
				/ElasticMQ server \((\S+)\) started in/,
				/ElasticMQ server \(\S+\) started in/,
			),
			url: `http://${setup.nodes[0]?.client}`,
			settings: { ...settings, ...jvm.settings },
			data: "memory",
			flushes: false,
			startMs: 60_000,
			stopMs: 10_000,
			node: (node) => ({
				// In a container it takes the place of the image's own start.
				before: setup.image ? [["true"]] : [],
				argv: jvm.run(node, ["org.elasticmq.server.Main"]),
				files: {
					// JSON's values are values of its language, too.
					"elasticmq.conf": `include classpath("application.conf")\n${lines(
						{
							"node-address.protocol": "http",
							"node-address.host": node.client.replace(/:\d+$/, ""),
							"node-address.port": Number(/\d+$/.exec(node.client)?.[0]),
							"rest-sqs.bind-hostname": node.listen,
							"rest-sqs.bind-port": node.ports[0] ?? 0,
							"rest-stats.enabled": false,
							...settings,
						},
						" = ",
						JSON.stringify,
					)}`,
				},
			}),
		};
	},
});
