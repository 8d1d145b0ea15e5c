import { type Durability, declared } from "../broker.ts";
import type { SystemOptionsOfAnyBroker } from "../fields.ts";

/** Both mosquitto and Mochi MQTT acknowledge what is in their memory; what mosquitto saves at times (persistence) is a snapshot. */
export const MEMORY = "nothing is written before an acknowledgement";
export const OWN = `memory (${MEMORY})`;

export const NOTHING = "none, QoS 0 is neither stored nor acknowledged";

export function mqttDurability(
	{ qos, durability }: SystemOptionsOfAnyBroker & { readonly qos: number },
	ours: boolean,
): Durability {
	if (qos === 0) return { level: null, text: NOTHING, by: [] };
	if (ours) return { level: "memory", text: OWN, by: [] };
	return durability === undefined
		? { level: null, text: "not known (your server)", by: [] }
		: declared(durability, MEMORY);
}
