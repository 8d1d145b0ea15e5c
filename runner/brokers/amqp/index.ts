import { image, jarsOf } from "./image.ts";
import { omb } from "./import-omb.ts";
import { install } from "./install.ts";
import { amqp as options } from "./options.ts";
import { amqp as process } from "./process.ts";

export const amqp = {
	...options,
	program: null,
	title: "AMQP 1.0",
	process,
	image,
	install,
	jars: Object.values(jarsOf),
	omb,
};
