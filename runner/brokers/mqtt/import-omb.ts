import { type OmbDriver, quoted } from "../omb-driver.ts";

/** Its drivers for MQTT 3.1.1 (all keys on top) and MQTT 5 (`client`, `consumer`). */
export const omb: OmbDriver = {
	packages: ["mqtt", "mqtt5"],
	read(take, leave) {
		const old = take("brokerAddr");
		const client = asObject(take("client"));
		const consumer = asObject(take("consumer"));
		const url = old ?? client.serverUri;
		const clean = take("cleanSession") ?? consumer.cleanSession;
		const [sent, received] = [take("pubQos"), take("subQos")];
		const qos = sent ?? client.qos;
		if (received !== undefined && received !== qos)
			leave(
				quoted("subQos", received),
				"one QoS is for messages and subscriptions",
			);
		const alive = take("keepAliveInterval");
		const most = take("maxInflight") ?? consumer.receiveMaximum;
		return {
			broker: "mqtt",
			...(old === undefined ? {} : { protocol: "3.1.1" }),
			...(typeof url === "string"
				? { url: `mqtt://${url.replace(/^\w+:\/\//, "")}` }
				: {}),
			...(isWhole(qos, 2) ? { qos } : {}),
			// Without messages that are kept there is nothing to keep.
			...(clean === false && qos !== 0 ? { session: "persistent" } : {}),
			...(isWhole(most, 65_535) && most > 0 ? { receiveMaximum: most } : {}),
			...(isWhole(alive, 65_535) ? { keepAlive: `${alive}s` } : {}),
		};
	},
	reasons: {
		userName: "the user and the password belong in the url",
		password: "the user and the password belong in the url",
		clientIdPrefix: "every run has client ids of its own",
	},
};

// --- internal ---

function asObject(value: unknown): Readonly<Record<string, unknown>> {
	return typeof value === "object" && value !== null
		? (value as Record<string, unknown>)
		: {};
}

function isWhole(value: unknown, most: number): value is number {
	return (
		typeof value === "number" &&
		Number.isInteger(value) &&
		value >= 0 &&
		value <= most
	);
}
