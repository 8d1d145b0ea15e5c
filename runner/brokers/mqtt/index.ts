import { image } from "./image.ts";
import { omb } from "./import-omb.ts";
import { install } from "./install.ts";
import { mqtt as options } from "./options.ts";
import { mqtt as process } from "./process.ts";

export const mqtt = {
	...options,
	program: {
		name: "mochi",
		module: "servers/mochi",
		package: "github.com/mqbench/mqbench/extensions/servers/mochi",
		whenNeeded: true,
	},
	title: "MQTT",
	process,
	image,
	install,
	omb,
};
