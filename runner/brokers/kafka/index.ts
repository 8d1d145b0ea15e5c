import { lookForJava, OLDEST_JAVA } from "../java.ts";
import { image, jars } from "./image.ts";
import { omb } from "./import-omb.ts";
import { kafka as options } from "./options.ts";
import { kafka as process } from "./process.ts";

export const kafka = {
	...options,
	program: null,
	title: "Kafka",
	process,
	image,
	install: {
		from: `Java ${OLDEST_JAVA} or newer, and Maven; or \`KAFKA_HOME\`, \`binary: /opt/kafka\``,
		look: lookForJava("Kafka", 45, "KAFKA_HOME"),
	},
	jars: [jars],
	omb,
};
