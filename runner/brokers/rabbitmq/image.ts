import type { OfficialImage } from "../broker.ts";

export const image: OfficialImage = { name: "rabbitmq", version: "4.2.1", suffix: "-alpine" };
