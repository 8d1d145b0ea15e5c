import type { Level } from "../../model/plan.ts";
import { hostPort } from "../addresses.ts";
import type { OfficialImage } from "../broker.ts";
import type { SystemOptionsOfAnyBroker } from "../fields.ts";
import { built, everywhere, type Signs, type Site, says, server } from "../process.ts";
import type { NsqOptions } from "./options.ts";

type Config = NonNullable<SystemOptionsOfAnyBroker["config"]>;

/** As the server that mqbench builds (extensions/servers/nsqd/go.mod). */
export const image: OfficialImage = { name: "nsqio/nsq", version: "v1.3.0", suffix: "" };

export const IN_MEMORY = "mem-queue-size";
export const EVERY = "sync-every";
export const TIMEOUT = "sync-timeout";

/** nsqd's own. */
export const OWN_SETTINGS: Config = { [IN_MEMORY]: 10_000, [EVERY]: 2500, [TIMEOUT]: "2s" };

/** More than any run sends. */
export const NEVER: Config = { [EVERY]: 1_000_000_000_000, [TIMEOUT]: "24h" };

/** nsqd's flags for each level. There is no `fsync`: it acknowledges a message that it has written, and flushes after that. */
export const LEVELS: Readonly<Partial<Record<Level, Config>>> = {
	memory: { [IN_MEMORY]: 10_000 },
	os: { [IN_MEMORY]: 0, ...NEVER },
	interval: { [IN_MEMORY]: 0, [EVERY]: 2500, [TIMEOUT]: "1s" },
};

/** Durability and `config`. Without a level nsqd is started as it comes. */
export function nsqSettings(level: Level | null, config: Config = {}): Config {
	return { ...(level === null ? {} : LEVELS[level]), ...config };
}

/** Every message waits in a file, not in memory. */
export function keepsFiles(settings: Config): boolean {
	return Number({ ...OWN_SETTINGS, ...settings }[IN_MEMORY]) === 0;
}

/** nsqd: the one that mqbench builds, somebody else's build (`binary`), or of an image; two ports for clients, of which one makes topics. */
export const process = server<NsqOptions>({
	program: built(
		"nsqd",
		{
			...everywhere("https://nsq.io/deployment/installing.html"),
			darwin: "brew install nsq",
		},
		["/nsqd"],
	),
	onHosts: `nsqd ${image.version.slice(1)}, copied`,
	container: { data: "/data" },
	ports: () => [
		{ number: 4150, from: "clients" },
		{ number: 4151, from: "clients" },
	],
	launch({ level, messageBytes, nodes, image }, { prefetch = 0, msgTimeout = 0, config }) {
		const settings = {
			...(messageBytes > MAX_MESSAGE
				? { "max-msg-size": messageBytes, "max-body-size": 5 * messageBytes }
				: {}),
			...(prefetch > MAX_RDY ? { "max-rdy-count": prefetch } : {}),
			...(msgTimeout > MAX_TIMEOUT_NS ? { "max-msg-timeout": `${msgTimeout / 1e6}ms` } : {}),
			...nsqSettings(level, config),
		};
		const at = (port: number) => nodes.map(({ clients }) => clients[port]).join(",");
		return {
			says: signs(nodes),
			url: `nsq://${at(0)}?http=${at(1)}`,
			settings,
			data: "disk",
			flushes: keepsFiles(settings),
			startMs: 30_000,
			stopMs: 5_000,
			node: ({ listen, ports, data, folder }) => ({
				argv: Object.entries({
					"tcp-address": hostPort(listen, ports[0] ?? 0),
					"http-address": hostPort(listen, ports[1] ?? 0),
					"data-path": image ? data : folder,
					...settings,
				}).map(([name, value]) => `--${name}=${value}`),
				files: {},
			}),
		};
	},
});

// --- internal ---

/** nsqd's own limits, which are raised where a run needs more: what is measured is the server as it comes. */
const MAX_MESSAGE = 1024 ** 2;
const MAX_RDY = 2500;
const MAX_TIMEOUT_NS = 15 * 60e9;

/** It is up when both ports listen. */
function signs(nodes: readonly Site[]): Pick<Signs, "ready" | "version"> {
	const listening = nodes.map(() => new Set<string>());
	const log = says("nsqd", /INFO: nsqd v(\S+) \(built/, /INFO: (?:TCP|HTTP): listening on /);
	return {
		...log,
		ready(line, node) {
			if (!log.ready(line, node)) return false;
			return listening[node]?.add(line.includes("HTTP") ? "http" : "tcp").size === 2;
		},
	};
}
