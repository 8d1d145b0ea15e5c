import type { Broker, BrokerOptions } from "../broker.ts";
import { image } from "./image.ts";
import { omb } from "./import-omb.ts";
import { mqtt as options } from "./options.ts";
import { mqtt as process } from "./process.ts";

export const mqtt = {
	...options,
	program: {
		name: "mochi",
		module: "servers/mochi",
		package: "github.com/mqbench/mqbench/extensions/servers/mochi",
		whenNeeded: true,
	},
	title: "MQTT",
	process,
	image,
	install: {
		from: "`mosquitto` on PATH, else Mochi MQTT, built by mqbench when it is first needed; or `binary: /path/to/mosquitto`",
		async look({ run, which }) {
			const program = await which("mosquitto");
			if (program === null)
				return {
					here: true,
					figure: "Mochi MQTT, built when needed",
					sentence:
						"mosquitto is not on PATH, so mqbench builds Mochi MQTT, a server in Go, when a run needs it.",
				};
			// It prints its version with its help, and calls that a failure.
			const version = /mosquitto version (\S+)/.exec((await run(program, "-h")) ?? "")?.[1];
			return {
				here: true,
				figure: `mosquitto ${version ?? ""}`.trim(),
				sentence:
					"mqbench runs it on a free port of the loopback address; it keeps everything in memory.",
			};
		},
	},
	omb,
} satisfies Omit<Broker, keyof BrokerOptions>;
