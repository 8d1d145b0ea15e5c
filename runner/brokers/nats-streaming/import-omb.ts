import { type OmbDriver, quoted } from "../omb-driver.ts";

/** Its driver keeps what the server keeps: memory or files. */
export const omb: OmbDriver = {
	packages: ["natsstreaming"],
	read(take, leave) {
		const url = take("natsHostUrl");
		const cluster = take("clusterId");
		const inFlight = take("maxInFlight");
		if (inFlight !== undefined && !(Number(inFlight) > 0))
			leave(quoted("maxInFlight", inFlight), "is no number above 0");
		return {
			broker: "nats-streaming",
			...(typeof url === "string"
				? { url: url.includes("://") ? url : `nats://${url}` }
				: {}),
			...(typeof cluster === "string" ? { cluster } : {}),
			...(Number(inFlight) > 0 ? { prefetch: Number(inFlight) } : {}),
		};
	},
	reasons: {
		maxPubAcksInFlight: "how many messages are in flight is the workload's",
	},
};
