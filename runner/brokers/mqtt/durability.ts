import { type Durability, declared } from "../broker.ts";
import type { SystemOptionsOfAnyBroker } from "../fields.ts";

type Settings = SystemOptionsOfAnyBroker & {
	readonly qos: number;
	readonly server?: string | undefined;
};

/** Both mosquitto and Mochi MQTT acknowledge what is in their memory; what mosquitto saves at times (persistence) is a snapshot. */
export const MEMORY = "nothing is written before an acknowledgement";
export const OWN = `memory (${MEMORY})`;

export const NOTHING = "none, QoS 0 is neither stored nor acknowledged";

const SYNC = "jetstream.sync_interval";
const NATS_SYNC = "2m";
export const NATS_OWN = textOf(NATS_SYNC);

/** nats-server keeps messages of QoS 1 and 2 in a stream, in a file, which it syncs by the clock or with each acknowledgement. */
export function mqttDurability(
	{ qos, server, durability, config = {} }: Settings,
	ours: boolean,
): Durability {
	if (qos === 0) return { level: null, text: NOTHING, by: [] };
	if (!ours)
		return durability === undefined
			? { level: null, text: "not known (your server)", by: [] }
			: declared(durability, MEMORY);
	if (server !== "nats") return { level: "memory", text: OWN, by: [] };
	const by = Object.keys(config).filter((key) => key.toLowerCase() === SYNC);
	const every = String(config[by[0] ?? ""] ?? NATS_SYNC);
	return {
		level: every === "always" ? "fsync" : "interval",
		text: by.length === 0 ? NATS_OWN : textOf(every),
		by,
	};
}

// --- internal ---

function textOf(every: string): string {
	return every === "always"
		? "sync_interval: always (fsync)"
		: `interval ${every}${every === NATS_SYNC ? " (default)" : ""}`;
}
