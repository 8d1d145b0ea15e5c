import { image } from "./image.ts";
import { omb } from "./import-omb.ts";
import { install } from "./install.ts";
import { nats as options } from "./options.ts";
import {
	natsInDocker as docker,
	natsOnHosts as hosts,
	nats as local,
} from "./process.ts";

export const nats = {
	...options,
	program: "natsd" as const,
	title: "NATS",
	process: { local, docker, hosts },
	image,
	install,
	omb,
};
