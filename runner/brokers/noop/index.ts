import { noop as options } from "./options.ts";

export const noop = {
	...options,
	program: null,
	title: "No broker",
	process: null,
	image: null,
	install: null,
	omb: null,
};
