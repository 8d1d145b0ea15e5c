import type { Level } from "../../model/plan.ts";
import { hostPort } from "../addresses.ts";
import { inBlocks } from "../blocks.ts";
import type { OfficialImage } from "../broker.ts";
import type { SystemOptionsOfAnyBroker } from "../fields.ts";
import { newLogin } from "../login.ts";
import { built, everywhere, says, server } from "../process.ts";
import type { StreamingOptions } from "./options.ts";

type Config = NonNullable<SystemOptionsOfAnyBroker["config"]>;

/** As the server that mqbench builds (extensions/servers/nats-streaming-server/go.mod), and the last there is. */
export const image: OfficialImage = {
	name: "nats-streaming",
	version: "0.25.6",
	suffix: "-alpine",
};

/** Room for the protocol's envelope, which counts towards max_payload: its size depends on the topic. */
export const ENVELOPE = 1024;
/** As mqbench sets the server up. */
export const MAX_PAYLOAD = 8 * 1024 ** 2 + ENVELOPE;

export const MAX_BYTES = "streaming.store_limits.max_bytes";

/** What a channel in memory keeps, where the scenario says nothing: it would take all memory there is. */
export const MEMORY_BYTES = 1024 ** 3;

export const STORE = "streaming.store";
export const SYNC = "streaming.file_options.sync_on_flush";
export const EVERY = "streaming.file_options.auto_sync";

/** The server's settings for each level, as its configuration file has them: it flushes before it acknowledges, and syncs with that or by the clock. */
export const LEVELS: Readonly<Record<Level, Config>> = {
	memory: { [STORE]: "memory" },
	os: { [STORE]: "file", [SYNC]: false, [EVERY]: "0s" },
	interval: { [STORE]: "file", [SYNC]: false, [EVERY]: "1s" },
	fsync: { [STORE]: "file", [SYNC]: true, [EVERY]: "1m" },
};

/** Durability and `config`. Without a level as `memory`, which is the server's own. */
export function streamingSettings(level: Level | null, config: Config = {}): Config {
	const written = Object.fromEntries(
		Object.entries(config).map(([key, value]) => [key.toLowerCase(), value]),
	);
	return { ...LEVELS[level ?? (keepsFiles(written) ? "fsync" : "memory")], ...written };
}

export function keepsFiles(settings: Config): boolean {
	return word(settings[STORE]) === "file";
}

export function word(value: string | number | boolean | undefined): string {
	return String(value ?? "").toLowerCase();
}

/** nats-streaming-server: the one that mqbench builds, somebody else's build (`binary`), or of an image. All read the same configuration file. */
export const process = server<StreamingOptions>({
	program: built(
		"nats-streaming-server",
		everywhere("https://github.com/nats-io/nats-streaming-server/releases"),
	),
	onHosts: `nats-streaming-server ${image.version}, copied`,
	container: { data: "/data" },
	ports: 4222,
	launch({ level, messageBytes, nodes }, { cluster, config }) {
		const levels = streamingSettings(level, config);
		const files = keepsFiles(levels);
		const needed = Math.min(messageBytes + ENVELOPE, MAX_PAYLOAD);
		const settings = {
			...(needed > OWN_MAX_PAYLOAD ? { max_payload: needed } : {}),
			[MAX_BYTES]: files ? 0 : MEMORY_BYTES,
			...levels,
		};
		const { password: token } = newLogin();
		return {
			says: says(
				"nats-streaming-server",
				/Starting nats-streaming-server\[.*\] version (\S+)$/,
				/Streaming Server is ready$/,
			),
			url: `nats://${token}@${nodes[0]?.client}`,
			settings,
			data: files ? "disk" : "memory",
			flushes: files,
			startMs: 30_000,
			stopMs: 5_000,
			node: ({ listen, ports, folder, data }) => ({
				argv: ["-c", `${folder}/nats-streaming.conf`],
				files: {
					"nats-streaming.conf": inBlocks({
						listen: hostPort(listen, ports[0] ?? 0),
						"authorization.token": token,
						"streaming.id": cluster,
						...(files ? { "streaming.dir": data } : {}),
						...UNLIMITED,
						...settings,
					}),
				},
			}),
		};
	},
});

// --- internal ---

/** The server's own limits (a million messages, 1000 subscriptions, 100 channels) would drop messages, or refuse consumers, in mid-run. */
const UNLIMITED = {
	"streaming.store_limits.max_channels": 0,
	"streaming.store_limits.max_subs": 0,
	"streaming.store_limits.max_msgs": 0,
};

/** The server's own, for larger messages than these only: what is measured is the server as it comes. */
const OWN_MAX_PAYLOAD = 1024 ** 2;
