import { hostPort } from "../addresses.ts";
import {
	type BrokerProcess,
	builtServer,
	everywhere,
	type Setup,
	type Site,
	shownSettings,
} from "../process.ts";
import { keepsFiles, nsqSettings } from "./durability.ts";
import { image } from "./image.ts";
import type { NsqOptions } from "./options.ts";

const URL = "https://nsq.io/deployment/installing.html";
const SERVER = builtServer("nsqd", { ...everywhere(URL), darwin: "brew install nsq" }, ["/nsqd"]);

/** nsqd: the one that mqbench builds, somebody else's build (`binary`), or of an image; two ports for clients, of which one makes topics. */
export const nsq: BrokerProcess = {
	packages: [],
	onHosts: { text: () => `nsqd ${image.version.slice(1)}, copied` },
	container: { data: "/data" },
	ports: () => [
		{ number: 4150, from: "clients" },
		{ number: 4151, from: "clients" },
	],
	prepare: SERVER.prepare,
	async describe(setup) {
		const { nodes } = setup;
		const shown = settings(setup);
		return {
			...signs(nodes),
			settings: shownSettings(shown),
			data: "disk",
			flushes: keepsFiles(shown),
			nodes: await Promise.all(
				nodes.map(async (node) => ({
					argv: [
						...(await SERVER.command(setup, node)),
						...flags({
							"tcp-address": hostPort(node.listen, node.ports[0] ?? 0),
							"http-address": hostPort(node.listen, node.ports[1] ?? 0),
							"data-path": setup.image ? node.data : node.folder,
							...shown,
						}),
					],
					files: {},
				})),
			),
		};
	},
};

// --- internal ---

/** nsqd's own limits, which are raised where a run needs more: what is measured is the server as it comes. */
const MAX_MESSAGE = 1024 ** 2;
const MAX_RDY = 2500;
const MAX_TIMEOUT_NS = 15 * 60e9;

/** How it tells that it is up, and where it is: both ports listen. */
function signs(nodes: readonly Site[]) {
	const listening = nodes.map(() => new Set<string>());
	let version = "";
	return {
		ready(line: string, node: number) {
			version ||= /INFO: nsqd v(\S+) \(built/.exec(line)?.[1] ?? "";
			const port = /INFO: (TCP|HTTP): listening on /.exec(line)?.[1];
			if (port !== undefined) listening[node]?.add(port);
			return port !== undefined && listening[node]?.size === 2;
		},
		url() {
			const of = (port: number) => nodes.map(({ clients }) => clients[port]).join(",");
			return `nsq://${of(0)}?http=${of(1)}`;
		},
		version: () => version && `nsqd ${version}`,
		startMs: 30_000,
		stopMs: 5_000,
	};
}

/** What durability, message size, the options and the scenario's own `config` come to. */
function settings({ level, messageBytes, system }: Setup) {
	const { prefetch, msgTimeout, config } = system.options as unknown as NsqOptions;
	return {
		...(messageBytes > MAX_MESSAGE
			? { "max-msg-size": messageBytes, "max-body-size": 5 * messageBytes }
			: {}),
		...(prefetch !== undefined && prefetch > MAX_RDY ? { "max-rdy-count": prefetch } : {}),
		...(msgTimeout !== undefined && msgTimeout > MAX_TIMEOUT_NS
			? { "max-msg-timeout": `${msgTimeout / 1e6}ms` }
			: {}),
		...nsqSettings(level, config),
	};
}

function flags(all: Readonly<Record<string, string | number | boolean>>) {
	return Object.entries(all).map(([name, value]) => `--${name}=${value}`);
}
