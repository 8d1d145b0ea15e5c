import type { Mapping, OmbDriver } from "../omb-driver.ts";

/** Artemis speaks all its protocols at one port. A JSON of another server's settings is none of its addresses. */
const address: Mapping = (servers, other) => {
	if (!/^\(?\w+:\/\//.test(servers)) return "it is not an address";
	return /activemq(?!\.artemis)/i.test(other("connectionFactoryClassName"))
		? {
				at: { servers: servers.replaceAll(/:\d+(?=[,/?)]|$)/g, "") },
				but: "its port speaks OpenWire; the usual one of AMQP is taken",
			}
		: { at: { servers } };
};

/** Its drivers for Artemis and JMS, which speak protocols of their own to servers that speak AMQP 1.0, too. */
export const omb: OmbDriver = {
	packages: ["artemis", "jms"],
	system: { broker: "amqp" },
	copied: { destination: "topic" },
	keys: {
		brokerAddress: address,
		connectionFactoryConfigurationParam: address,
		connectionFactoryClassName: (factory) =>
			/activemq/i.test(factory)
				? null
				: "mqbench speaks AMQP 1.0; whether that server does is not known",
		use20api: "of JMS alone",
		sendWithTransactions: "mqbench sends without transactions",
		properties: "of JMS alone",
		messageSelector: "consumers take all messages",
	},
};
