import type { BrokerInstall } from "../install.ts";

export const install: BrokerInstall = {
	from: "nats-streaming-server, built by mqbench when it is first needed; or `binary: /path/to/nats-streaming-server`",
	look: async () => ({
		here: true,
		figure: "built when needed",
		sentence:
			"mqbench brings nats-streaming-server, which its makers ended in 2023; binary names another build.",
	}),
};
