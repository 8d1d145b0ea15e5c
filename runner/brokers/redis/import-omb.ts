import type { OmbDriver } from "../omb-driver.ts";

const reasons = {
	jedisPoolMaxTotal: "connections are the workload's",
	jedisPoolMaxIdle: "connections are the workload's",
};

/** Its Redis driver writes to streams. */
export const omb: OmbDriver = {
	packages: ["redis"],
	read(take) {
		const host = take("redisHost");
		const port = take("redisPort") ?? 6379;
		return {
			broker: "redis",
			mode: "streams",
			...(typeof host === "string" ? { url: `redis://${host}:${port}` } : {}),
		};
	},
	reasons,
};
