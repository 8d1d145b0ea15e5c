import type { BrokerInstall } from "../install.ts";

export const install: BrokerInstall = {
	from: "nats-server, built with mqbench; or `binary: /path/to/nats-server`",
	look: async () => ({
		here: true,
		figure: "built in",
		sentence:
			"Core and JetStream: mqbench brings nats-server; another build is named by binary.",
	}),
};
