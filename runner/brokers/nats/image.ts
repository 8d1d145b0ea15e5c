import type { OfficialImage } from "../broker.ts";

/** As natsd, of extensions/go.mod. */
export const image: OfficialImage = {
	name: "nats",
	version: "2.15.2",
	suffix: "-alpine",
};
