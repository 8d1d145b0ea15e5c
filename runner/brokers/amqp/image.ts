import type { OfficialImage } from "../broker.ts";
import type { Jars } from "../jars.ts";

/** As the pom in `artemis`; the other server has an image of its own. */
export const image: OfficialImage = {
	name: "apache/activemq-artemis",
	version: "2.44.0",
	suffix: "",
};

/** What `server` may be. */
export const servers = ["artemis", "classic"] as const;
export type Server = (typeof servers)[number];

/** The servers, and what they need at run time. */
export const jarsOf: Readonly<Record<Server, Jars>> = {
	artemis: {
		title: "ActiveMQ Artemis",
		name: "artemis",
		folder: "amqp/artemis",
		version: image.version,
	},
	classic: {
		title: "ActiveMQ Classic",
		name: "activemq",
		folder: "amqp/activemq",
		version: "6.1.7",
	},
};
