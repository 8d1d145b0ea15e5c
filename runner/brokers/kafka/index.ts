import { image } from "./image.ts";
import { omb } from "./import-omb.ts";
import { install } from "./install.ts";
import { kafka as options } from "./options.ts";
import {
	kafkaInDocker as docker,
	kafkaOnHosts as hosts,
	kafka as local,
} from "./process.ts";

export const kafka = {
	...options,
	program: null,
	title: "Kafka",
	process: { local, docker, hosts },
	image,
	install,
	omb,
};
