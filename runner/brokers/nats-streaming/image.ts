import type { OfficialImage } from "../broker.ts";

/** As the server that mqbench builds (extensions/servers/nats-streaming-server/go.mod), and the last there is. */
export const image: OfficialImage = {
	name: "nats-streaming",
	version: "0.25.6",
	suffix: "-alpine",
};
