import type { BrokerInstall } from "../install.ts";

export const install: BrokerInstall = {
	from: "nats-server, built with mqbench; or `binary: /path/to/nats-server`",
	look: async () => ({
		here: true,
		figure: "built in",
		sentence: "mqbench brings nats-server (core and JetStream); binary names another build.",
	}),
};
