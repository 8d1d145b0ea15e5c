import { image } from "./image.ts";
import { omb } from "./import-omb.ts";
import { nsq as options } from "./options.ts";
import { nsq as process } from "./process.ts";

export const nsq = {
	...options,
	program: {
		name: "nsqd",
		module: "servers/nsqd",
		package: "github.com/nsqio/nsq/apps/nsqd",
		whenNeeded: true,
	},
	title: "NSQ",
	process,
	image,
	install: {
		from: "nsqd, built by mqbench when it is first needed; or `binary: /path/to/nsqd`",
		look: async () => ({
			here: true,
			figure: "built when needed",
			sentence: "mqbench brings nsqd; binary names another build.",
		}),
	},
	omb,
};
