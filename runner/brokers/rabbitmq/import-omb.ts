import type { OmbDriver } from "../omb-driver.ts";

export const omb: OmbDriver = {
	packages: ["rabbitmq"],
	system: { broker: "rabbitmq", queue: "classic", persistent: false },
	path: true,
	keys: {
		amqpUris(uris) {
			const [servers = "", ...others] = uris.split(/,(?=\w+:\/\/)/);
			return {
				at: { servers },
				...(others.length > 0 && { but: "connections go to the first node" }),
			};
		},
		messagePersistence: (on) => ({ persistent: on === "true" }),
		queueType: (type) =>
			/^quorum$/i.test(type)
				? { queue: "quorum" }
				: /^classic$/i.test(type)
					? null
					: "mqbench has classic and quorum queues",
	},
};
