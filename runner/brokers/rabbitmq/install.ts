import type { BrokerInstall } from "../install.ts";

export const install: BrokerInstall = {
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
};
