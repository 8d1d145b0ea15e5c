import type { OfficialImage } from "../broker.ts";

/** As pom.xml. */
export const image: OfficialImage = {
	name: "apache/kafka",
	version: "4.1.1",
	suffix: "",
};
