import type { BrokerInstall } from "../install.ts";

export const install: BrokerInstall = {
	from: "`rabbitmq-server` and Erlang on PATH; or an installation: `binary: /opt/rabbitmq`",
	async look({ which }) {
		const found = await which("rabbitmq-server");
		return found === null
			? {
					here: false,
					figure: "not found",
					sentence:
						"RabbitMQ needs rabbitmq-server (and Erlang, which comes with it) on PATH.",
				}
			: {
					here: true,
					figure: found,
					sentence:
						"mqbench runs it as a separate node, with its own name, cookie and folders.",
				};
	},
};
