import type { OmbDriver } from "../omb-driver.ts";

/** Its driver sends to one nsqd, and consumers find it by an nsqlookupd. */
export const omb: OmbDriver = {
	packages: ["nsq"],
	system: { broker: "nsq" },
	login: false,
	keys: { nsqdHost: (servers) => ({ at: { servers } }) },
};
