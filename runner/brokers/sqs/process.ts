import { tell } from "../../text/tell.ts";
import { pinned } from "../jars.ts";
import { fetchJars, findJava, jvmFlags } from "../java.ts";
import type { BrokerProcess, Setup } from "../process.ts";
import { image, jars } from "./image.ts";
import { LIMITS, type SqsOptions } from "./options.ts";

/** ElasticMQ, on Java from jars that Maven fetches; in containers from softwaremill/elasticmq, which reads the same file. */
export const sqs: BrokerProcess = {
	packages: ["default-jre-headless"],
	onHosts: {
		text: (version = image.version) => `ElasticMQ ${version}, copied, on the host's Java`,
		anyVersion: true,
	},
	container: { folder: "/opt", data: "/data" },
	ports: () => [{ number: 9324, from: "clients" }],
	prepare: findClasses,
	async describe(setup) {
		const [node] = setup.nodes;
		if (!node) throw new Error("it has one node");
		const java = await findJava(setup, jars.title);
		const jvm = jvmFlags(setup);
		const { version, config = {} } = optionsOf(setup);
		const classes = setup.image
			? "/opt/elasticmq/lib"
			: node.bring(jars.name, await findClasses(setup));
		return {
			...signs(node.client),
			settings: {
				...Object.fromEntries(
					Object.entries({ ...SETTINGS, ...config }).map(([key, value]) => [key, String(value)]),
				),
				java: jvm.text,
				...(version === undefined || pinned(jars, version) !== null
					? {}
					: { jars: tell("jars-not-pinned", { what: `ElasticMQ ${version}` }) }),
			},
			data: "memory",
			flushes: false,
			nodes: [
				{
					// In a container it takes the place of the image's own start.
					before: setup.image ? [["true"]] : [],
					argv: [
						java,
						...jvm.argv,
						`-Dconfig.file=${node.folder}/${FILE}`,
						"-cp",
						`${classes}/*`,
						"org.elasticmq.server.Main",
					],
					files: {
						[FILE]: `include classpath("application.conf")\n${lines({
							"node-address.protocol": "http",
							"node-address.host": node.client.replace(/:\d+$/, ""),
							"node-address.port": Number(/\d+$/.exec(node.client)?.[0]),
							"rest-sqs.bind-hostname": node.listen,
							"rest-sqs.bind-port": node.ports[0] ?? 0,
							"rest-stats.enabled": false,
							...SETTINGS,
							...config,
						})}`,
					},
				},
			],
		};
	},
};

// --- internal ---

const FILE = "elasticmq.conf";

/** The limits of Amazon's service, as it is without a word. */
const SETTINGS = { [LIMITS]: "strict" };

function optionsOf({ system }: Pick<Setup, "system">): SqsOptions {
	return system.options as unknown as SqsOptions;
}

async function findClasses(setup: Pick<Setup, "system" | "tools">): Promise<string> {
	const { version } = optionsOf(setup);
	return fetchJars(setup, jars, version === undefined ? {} : { version });
}

/** A line for each: JSON's values are values of its language, too. */
function lines(all: Readonly<Record<string, string | number | boolean>>): string {
	return Object.entries(all)
		.map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`)
		.join("");
}

/** How it tells that it is up, and where it is. */
function signs(client: string) {
	let version = "";
	return {
		ready(line: string) {
			version = /ElasticMQ server \((\S+)\) started in/.exec(line)?.[1] ?? "";
			return version !== "";
		},
		url: () => `http://${client}`,
		version: () => version && `ElasticMQ ${version}`,
		startMs: 60_000,
		stopMs: 10_000,
	};
}
