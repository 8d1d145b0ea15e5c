import { image } from "./image.ts";
import { omb } from "./import-omb.ts";
import { install } from "./install.ts";
import { nats as options } from "./options.ts";
import { nats as process } from "./process.ts";

export const nats = {
	...options,
	program: {
		name: "nats-server",
		module: "servers/nats-server",
		package: "github.com/nats-io/nats-server/v2",
	},
	title: "NATS",
	process,
	image,
	install,
	omb,
};
