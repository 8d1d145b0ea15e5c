import { image, jars } from "./image.ts";
import { omb } from "./import-omb.ts";
import { install } from "./install.ts";
import { kafka as options } from "./options.ts";
import { kafka as process } from "./process.ts";

export const kafka = {
	...options,
	program: null,
	title: "Kafka",
	process,
	image,
	install,
	jars: [jars],
	omb,
};
