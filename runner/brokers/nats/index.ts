import { image } from "./image.ts";
import { omb } from "./import-omb.ts";
import { install } from "./install.ts";
import { nats as options } from "./options.ts";
import { nats as process } from "./process.ts";

export const nats = {
	...options,
	program: "natsd" as const,
	title: "NATS",
	process,
	image,
	install,
	omb,
};
