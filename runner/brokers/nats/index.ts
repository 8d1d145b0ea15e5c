import { image } from "./image.ts";
import { omb } from "./import-omb.ts";
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
	install: {
		from: "nats-server, built with mqbench; or `binary: /path/to/nats-server`",
		look: async () => ({
			here: true,
			figure: "built in",
			sentence: "mqbench brings nats-server (core and JetStream); binary names another build.",
		}),
	},
	omb,
};
