import { number, type OmbDriver } from "../omb-driver.ts";

/** Its driver keeps what the server keeps: memory or files. */
export const omb: OmbDriver = {
	packages: ["natsstreaming"],
	system: { broker: "nats-streaming" },
	keys: {
		natsHostUrl: (servers) => ({ at: { servers } }),
		clusterId: (cluster) => ({ cluster }),
		maxInFlight: (value) => number(value, (prefetch) => ({ prefetch })),
	},
};
