import { image } from "./image.ts";
import { omb } from "./import-omb.ts";
import { install } from "./install.ts";
import { rabbitmq as options } from "./options.ts";
import { rabbitmq as process } from "./process.ts";

export const rabbitmq = {
	...options,
	program: null,
	title: "RabbitMQ",
	process,
	image,
	install,
	omb,
};
