import { image } from "./image.ts";
import { omb } from "./import-omb.ts";
import { install } from "./install.ts";
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
	install,
	omb,
};
