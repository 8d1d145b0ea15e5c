import type { OmbDriver } from "../omb-driver.ts";

export const omb: OmbDriver = {
	packages: ["rabbitmq"],
	system: { broker: "rabbitmq", queue: "classic", persistent: false },
	path: true,
	keys: {
		// Connections go to the first node.
		amqpUris(uris) {
			const [servers = "", ...others] = uris.split(/,(?=\w+:\/\/)/);
			return { at: { servers }, partly: others.length > 0 };
		},
		messagePersistence: (on) => ({ persistent: on === "true" }),
		queueType: (type) =>
			/^quorum$/i.test(type) ? { queue: "quorum" } : /^classic$/i.test(type) ? null : undefined,
	},
};
