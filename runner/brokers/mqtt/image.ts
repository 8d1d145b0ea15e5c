import type { OfficialImage } from "../broker.ts";

/** Of mosquitto, the only one of its servers that runs in containers. */
export const image: OfficialImage = { name: "eclipse-mosquitto", version: "2.0.22", suffix: "" };
