import { image } from "./image.ts";
import { omb } from "./import-omb.ts";
import { install } from "./install.ts";
import { streaming as options } from "./options.ts";
import { streaming as process } from "./process.ts";

export const streaming = {
	...options,
	program: {
		name: "nats-streaming-server",
		module: "servers/nats-streaming-server",
		package: "github.com/nats-io/nats-streaming-server",
		whenNeeded: true,
	},
	title: "NATS Streaming",
	process,
	largeDriver: true as const,
	image,
	install,
	omb,
};
