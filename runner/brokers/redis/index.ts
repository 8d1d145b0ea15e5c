import type { Broker, BrokerOptions } from "../broker.ts";
import { image } from "./image.ts";
import { omb } from "./import-omb.ts";
import { redis as options } from "./options.ts";
import { redis as process } from "./process.ts";

export const redis = {
	...options,
	program: null,
	title: "Redis",
	process,
	image,
	install: {
		from: "`redis-server` on PATH; or `binary: valkey-server`",
		async look({ run, which }) {
			const said = await run("redis-server", "--version");
			const version = /v=(\S+)/.exec(said ?? "")?.[1];
			if (version !== undefined || (await which("redis-server")))
				return {
					here: true,
					figure: `redis-server ${version ?? ""}`.trim(),
					sentence: "mqbench runs it on a free port, with its data in a temporary folder.",
				};
			if (await which("valkey-server"))
				return {
					here: true,
					figure: "valkey-server",
					sentence: "Write { broker: redis, binary: valkey-server } in the scenario.",
				};
			return {
				here: false,
				figure: "not found",
				sentence: "Redis needs redis-server or valkey-server on PATH.",
			};
		},
	},
	omb,
} satisfies Omit<Broker, keyof BrokerOptions>;
