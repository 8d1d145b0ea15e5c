import { hostPort } from "../addresses.ts";
import { inBlocks } from "../blocks.ts";
import { newLogin } from "../login.ts";
import {
	type BrokerProcess,
	builtServer,
	everywhere,
	type Setup,
	shownSettings,
} from "../process.ts";
import { keepsFiles, streamingSettings } from "./durability.ts";
import { image } from "./image.ts";
import {
	ENVELOPE,
	MAX_BYTES,
	MAX_PAYLOAD,
	MEMORY_BYTES,
	type StreamingOptions,
} from "./options.ts";

const SERVER = builtServer(
	"nats-streaming-server",
	everywhere("https://github.com/nats-io/nats-streaming-server/releases"),
);

/** nats-streaming-server: the one that mqbench builds, somebody else's build (`binary`), or of an image. All read the same configuration file. */
export const streaming: BrokerProcess = {
	packages: [],
	onHosts: { text: () => `nats-streaming-server ${image.version}, copied` },
	container: { data: "/data" },
	ports: () => [{ number: 4222, from: "clients" }],
	prepare: SERVER.prepare,
	async describe(setup) {
		const { system, nodes } = setup;
		const options = system.options as unknown as StreamingOptions;
		const shown = settings(setup);
		const files = keepsFiles(shown);
		const { password: token } = newLogin();
		return {
			...signs(`${token}@${nodes[0]?.client}`),
			settings: shownSettings(shown),
			data: files ? "disk" : "memory",
			flushes: files,
			nodes: await Promise.all(
				nodes.map(async (node) => ({
					argv: [...(await SERVER.command(setup, node)), "-c", `${node.folder}/${FILE}`],
					files: {
						[FILE]: inBlocks({
							listen: hostPort(node.listen, node.ports[0] ?? 0),
							"authorization.token": token,
							"streaming.id": options.cluster,
							...(files ? { "streaming.dir": node.data } : {}),
							...UNLIMITED,
							...shown,
						}),
					},
				})),
			),
		};
	},
};

// --- internal ---

const FILE = "nats-streaming.conf";

/** The server's own limits (a million messages, 1000 subscriptions, 100 channels) would drop messages, or refuse consumers, in mid-run. */
const UNLIMITED = {
	"streaming.store_limits.max_channels": 0,
	"streaming.store_limits.max_subs": 0,
	"streaming.store_limits.max_msgs": 0,
};

/** The server's own, for larger messages than these only: what is measured is the server as it comes. */
const OWN_MAX_PAYLOAD = 1024 ** 2;

/** How it tells that it is up, and where it is. */
function signs(client: string) {
	let version = "";
	return {
		ready(line: string) {
			version ||= /Starting nats-streaming-server\[.*\] version (\S+)$/.exec(line)?.[1] ?? "";
			return line.endsWith("Streaming Server is ready");
		},
		url: () => `nats://${client}`,
		version: () => version && `nats-streaming-server ${version}`,
		startMs: 30_000,
		stopMs: 5_000,
	};
}

/** What durability, message size and the scenario's own `config` come to. */
function settings({ level, messageBytes, system }: Setup) {
	const all = streamingSettings(level, system.options.config);
	const needed = Math.min(messageBytes + ENVELOPE, MAX_PAYLOAD);
	return {
		...(needed > OWN_MAX_PAYLOAD ? { max_payload: needed } : {}),
		[MAX_BYTES]: keepsFiles(all) ? 0 : MEMORY_BYTES,
		...all,
	};
}
