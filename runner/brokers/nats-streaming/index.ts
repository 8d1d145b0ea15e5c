import { image } from "./image.ts";
import { omb } from "./import-omb.ts";
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
	install: {
		from: "nats-streaming-server, built by mqbench when it is first needed; or `binary: /path/to/nats-streaming-server`",
		look: async () => ({
			here: true,
			figure: "built when needed",
			sentence:
				"mqbench brings nats-streaming-server, which its makers ended in 2023; binary names another build.",
		}),
	},
	omb,
};
