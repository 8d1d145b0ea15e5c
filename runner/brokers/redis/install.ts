import type { BrokerInstall } from "../install.ts";

export const install: BrokerInstall = {
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
};
