import { image, jars } from "./image.ts";
import { install } from "./install.ts";
import { sqs as options } from "./options.ts";
import { sqs as process } from "./process.ts";

export const sqs = {
	...options,
	program: null,
	title: "SQS",
	process,
	largeDriver: true as const,
	image,
	install,
	jars: [jars],
	omb: null,
};
