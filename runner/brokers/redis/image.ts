import type { OfficialImage } from "../broker.ts";

export const image: OfficialImage = { name: "redis", version: "8.2.3", suffix: "-alpine" };
