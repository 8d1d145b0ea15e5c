import { type Mapping, number, type OmbDriver } from "../omb-driver.ts";

const qos: Mapping = (value) => number(value, (level) => ({ qos: level }));
const clean: Mapping = (on) => (on === "false" ? { session: "persistent" } : null);
const most: Mapping = (value) => number(value, (receiveMaximum) => ({ receiveMaximum }));

/** Its drivers for MQTT 3.1.1 (all keys on top) and MQTT 5 (`client`, `consumer`). */
export const omb: OmbDriver = {
	packages: ["mqtt", "mqtt5"],
	system: { broker: "mqtt" },
	keys: {
		brokerAddr: (servers) => ({ protocol: "3.1.1", at: { servers } }),
		"client.serverUri": (servers) => ({ at: { servers } }),
		pubQos: qos,
		"client.qos": qos,
		subQos: (value, other) => (value === other("pubQos") ? null : undefined),
		cleanSession: clean,
		"consumer.cleanSession": clean,
		maxInflight: most,
		"consumer.receiveMaximum": most,
		keepAliveInterval: (value) => number(value, (n) => (n > 0 ? { keepAlive: `${n}s` } : null)),
	},
};
