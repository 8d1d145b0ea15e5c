import type { OfficialImage } from "../broker.ts";

/** As the server that mqbench builds (extensions/servers/nats-server/go.mod). */
export const image: OfficialImage = { name: "nats", version: "2.15.2", suffix: "-alpine" };
