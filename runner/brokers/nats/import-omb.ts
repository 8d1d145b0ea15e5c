import { type OmbDriver, quoted } from "../omb-driver.ts";

/** Its NATS driver publishes to JetStream. */
export const omb: OmbDriver = {
	packages: ["nats"],
	read(take, leave) {
		const url = take("natsHostUrl");
		const replicas = Number(take("replicationFactor") ?? 1);
		const storage = take("storageType") ?? take("storage");
		if (storage !== undefined && !/^(file|memory)$/i.test(String(storage)))
			leave(quoted("storageType", storage), "is neither file nor memory");
		return {
			broker: "nats",
			mode: "jetstream",
			...(typeof url === "string"
				? { url: url.includes("://") ? url : `nats://${url}` }
				: {}),
			...(replicas > 1 ? { replicas } : {}),
			...(/^memory$/i.test(String(storage)) ? { durability: "memory" } : {}),
		};
	},
	reasons: {},
};
