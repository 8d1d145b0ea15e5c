import type { OfficialImage } from "../broker.ts";

/** As the server that mqbench builds (extensions/servers/nsqd/go.mod). */
export const image: OfficialImage = { name: "nsqio/nsq", version: "v1.3.0", suffix: "" };
