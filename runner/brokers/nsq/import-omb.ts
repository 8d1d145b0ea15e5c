import type { OmbDriver } from "../omb-driver.ts";

const FOUND = "mqbench connects consumers to the servers of the url itself";

/** Its driver sends to one nsqd, and consumers find it by an nsqlookupd. */
export const omb: OmbDriver = {
	packages: ["nsq"],
	system: { broker: "nsq" },
	login: false,
	keys: { nsqdHost: (servers) => ({ at: { servers } }), lookupHost: FOUND, lookupdHost: FOUND },
};
