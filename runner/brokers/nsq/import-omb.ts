import type { OmbDriver } from "../omb-driver.ts";

/** Its driver sends to one nsqd, and consumers find it by an nsqlookupd. */
export const omb: OmbDriver = {
	packages: ["nsq"],
	read(take) {
		const host = take("nsqdHost");
		return {
			broker: "nsq",
			...(typeof host === "string" ? { url: `nsq://${host}` } : {}),
		};
	},
	reasons: {
		lookupdHost: "mqbench connects consumers to the servers of the url itself",
	},
};
