import type { OfficialImage } from "../broker.ts";
import type { Jars } from "../jars.ts";

/** As pom.xml. */
export const image: OfficialImage = { name: "apache/kafka", version: "4.1.1", suffix: "" };

/** Kafka and what it needs at run time. */
export const jars: Jars = {
	title: "Kafka",
	name: "kafka",
	folder: "kafka",
	version: image.version,
};
