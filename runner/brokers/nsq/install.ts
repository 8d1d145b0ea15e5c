import type { BrokerInstall } from "../install.ts";

export const install: BrokerInstall = {
	from: "nsqd, built by mqbench when it is first needed; or `binary: /path/to/nsqd`",
	look: async () => ({
		here: true,
		figure: "built when needed",
		sentence: "mqbench brings nsqd; binary names another build.",
	}),
};
