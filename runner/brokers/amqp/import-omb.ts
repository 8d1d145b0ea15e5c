import { type OmbDriver, quoted } from "../omb-driver.ts";

/** Its drivers for Artemis and JMS, which speak protocols of their own to servers that speak AMQP 1.0, too. */
export const omb: OmbDriver = {
	packages: ["artemis", "jms"],
	read(take, leave) {
		const artemis = take("brokerAddress");
		const factory = String(take("connectionFactoryClassName") ?? "");
		const jms = take("connectionFactoryParam");
		if (artemis === undefined && factory !== "" && !/activemq/i.test(factory))
			leave(
				quoted("connectionFactoryClassName", factory),
				"mqbench speaks AMQP 1.0; whether that server does is not known",
			);
		const host = /\w+:\/\/([\w.-]+)/.exec(String(artemis ?? jms ?? ""))?.[1];
		return {
			broker: "amqp",
			...(artemis === undefined ? { destination: "topic" } : {}),
			...(host === undefined ? {} : { url: `amqp://${host}` }),
		};
	},
	reasons: {
		use20api: "of JMS alone",
		sendWithTransactions: "mqbench sends without transactions",
		properties: "of JMS alone",
		messageSelector: "consumers take all messages",
	},
};
