import type { Mapping, OmbDriver } from "../omb-driver.ts";

/** Artemis speaks all its protocols at one port; that of Classic's address speaks OpenWire. A JSON of another server's settings is not an address. */
const address: Mapping = (servers, other) => {
	if (!/^\(?\w+:\/\//.test(servers)) return undefined;
	const classic = /activemq(?!\.artemis)/i.test(other("connectionFactoryClassName"));
	return classic
		? { at: { servers: servers.replaceAll(/:\d+(?=[,/?)]|$)/g, "") }, partly: true }
		: { at: { servers } };
};

/** Its drivers for Artemis and JMS, which speak protocols of their own to servers that speak AMQP 1.0, too. */
export const omb: OmbDriver = {
	packages: ["artemis", "jms"],
	system: { broker: "amqp" },
	copied: { destination: "topic" },
	keys: { brokerAddress: address, connectionFactoryConfigurationParam: address },
};
