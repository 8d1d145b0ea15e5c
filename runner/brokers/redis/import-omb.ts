import type { OmbDriver } from "../omb-driver.ts";

/** Its Redis driver writes to streams. */
export const omb: OmbDriver = {
	packages: ["redis"],
	system: { broker: "redis", mode: "streams" },
	keys: {
		redisHost: (servers) => ({ at: { servers } }),
		redisPort: (port) => ({ at: { port } }),
	},
};
