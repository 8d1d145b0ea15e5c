import { image } from "./image.ts";
import { omb } from "./import-omb.ts";
import { install } from "./install.ts";
import { redis as options } from "./options.ts";
import {
	redisInDocker as docker,
	redisOnHosts as hosts,
	redis as local,
} from "./process.ts";

export const redis = {
	...options,
	program: null,
	title: "Redis",
	process: { local, docker, hosts },
	image,
	install,
	omb,
};
