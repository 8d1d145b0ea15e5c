import { image } from "./image.ts";
import { omb } from "./import-omb.ts";
import { install } from "./install.ts";
import { rabbitmq as options } from "./options.ts";
import {
	rabbitmqInDocker as docker,
	rabbitmqOnHosts as hosts,
	rabbitmq as local,
} from "./process.ts";

export const rabbitmq = {
	...options,
	program: null,
	title: "RabbitMQ",
	process: { local, docker, hosts },
	image,
	install,
	omb,
};
