import type { Broker, BrokerOptions } from "../broker.ts";
import { image } from "./image.ts";
import { omb } from "./import-omb.ts";
import { rabbitmq as options } from "./options.ts";
import { rabbitmq as process } from "./process.ts";

export const rabbitmq = {
	...options,
	program: null,
	title: "RabbitMQ",
	process,
	image,
	install: {
		from: "`rabbitmq-server` and Erlang on PATH; or `binary: /opt/rabbitmq`",
		async look({ which }) {
			const program = await which("rabbitmq-server");
			return program === null
				? {
						here: false,
						figure: "not found",
						sentence: "RabbitMQ needs rabbitmq-server (and Erlang, which comes with it) on PATH.",
					}
				: {
						here: true,
						figure: program,
						sentence: "mqbench runs it as a separate node, with its own name, cookie and folders.",
					};
		},
	},
	omb,
} satisfies Omit<Broker, keyof BrokerOptions>;
