import { lookForJava, OLDEST_JAVA } from "../java.ts";
import { image, jars } from "./image.ts";
import { sqs as options } from "./options.ts";
import { sqs as process } from "./process.ts";

export const sqs = {
	...options,
	program: null,
	title: "SQS",
	process,
	largeDriver: true as const,
	image,
	install: {
		from: `Java ${OLDEST_JAVA} or newer, and Maven (ElasticMQ, which is not Amazon's service)`,
		look: lookForJava("ElasticMQ", 37),
	},
	jars: [jars],
	omb: null,
};
