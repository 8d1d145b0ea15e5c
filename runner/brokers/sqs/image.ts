import type { OfficialImage } from "../broker.ts";
import type { Jars } from "../jars.ts";

export const image: OfficialImage = {
	name: "softwaremill/elasticmq",
	version: "1.6.12",
	suffix: "",
};

/** ElasticMQ, and what it needs at run time. */
export const jars: Jars = {
	title: "ElasticMQ",
	name: "elasticmq",
	folder: "sqs",
	version: image.version,
};
