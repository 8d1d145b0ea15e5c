import type { OmbDriver } from "../omb-driver.ts";

const POOL = "connections are the workload's";

/** Its Redis driver writes to streams. */
export const omb: OmbDriver = {
	packages: ["redis"],
	system: { broker: "redis", mode: "streams" },
	keys: {
		redisHost: (servers) => ({ at: { servers } }),
		redisPort: (port) => ({ at: { port } }),
		jedisPoolMaxTotal: POOL,
		jedisPoolMaxIdle: POOL,
	},
};
