import { type Mapping, type OmbDriver, replicas } from "../omb-driver.ts";

const storage: Mapping = (where) => {
	if (/^memory$/i.test(where)) return { durability: "memory" };
	return /^file$/i.test(where) ? null : undefined;
};

/** Its NATS driver publishes to JetStream. */
export const omb: OmbDriver = {
	packages: ["nats", "jetstream"],
	system: { broker: "nats", mode: "jetstream" },
	keys: {
		natsHostUrl: (servers) => ({ at: { servers } }),
		replicationFactor: replicas,
		storageType: storage,
		storage,
	},
};
