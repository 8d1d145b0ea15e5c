import type { BrokerInstall } from "../install.ts";

export const OLDEST_JAVA = 17;

export const install: BrokerInstall = {
	from: `Java ${OLDEST_JAVA} or newer, and Maven; or \`KAFKA_HOME\`, \`binary: /opt/kafka\``,
	async look({ env, run, which }) {
		const missing = (figure: string) => ({
			here: false,
			figure,
			sentence: `Kafka needs Java ${OLDEST_JAVA} or newer, and Maven on PATH (which fetches Kafka once) or KAFKA_HOME.`,
		});
		// Its version stands in quotes, on stderr.
		const said = await run("java", "-version");
		const java = /version "((?:1\.)?(\d+)[^"]*)"/.exec(said ?? "");
		if (!java) return missing("no Java");
		if (Number(java[2]) < OLDEST_JAVA)
			return missing(`Java ${java[1]} is too old`);
		if (env.KAFKA_HOME)
			return {
				here: true,
				figure: `Java ${java[1]}, KAFKA_HOME`,
				sentence: "mqbench runs Kafka from there.",
			};
		if ((await which("mvn")) === null)
			return missing(`Java ${java[1]}, no Maven`);
		return {
			here: true,
			figure: `Java ${java[1]}, Maven`,
			sentence: "The first run downloads Kafka with Maven, 45 MB once.",
		};
	},
};
