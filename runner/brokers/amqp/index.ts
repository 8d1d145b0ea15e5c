import { lookForJava, OLDEST_JAVA } from "../java.ts";
import { image, jarsOf } from "./image.ts";
import { omb } from "./import-omb.ts";
import { amqp as options } from "./options.ts";
import { amqp as process } from "./process.ts";

export const amqp = {
	...options,
	program: null,
	title: "AMQP 1.0",
	process,
	image,
	install: {
		from: `Java ${OLDEST_JAVA} or newer, and Maven (ActiveMQ Artemis or Classic); or \`binary: /opt/activemq\``,
		look: lookForJava("ActiveMQ", 20),
	},
	jars: Object.values(jarsOf),
	omb,
};
