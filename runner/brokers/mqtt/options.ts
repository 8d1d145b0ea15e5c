import { z } from "zod";
import { count, span } from "../../model/field.ts";
import { processFields, tlsField } from "../fields.ts";

export const MqttOptions = z.strictObject({
	broker: z.literal("mqtt").meta({
		description:
			"MQTT 5 or 3.1.1: mosquitto, Mochi MQTT, or any other server (`target: existing`).",
	}),
	server: z.enum(["mosquitto", "mochi"]).optional().meta({
		description:
			"Which one mqbench starts. `mochi`: Mochi MQTT, in Go, built by mqbench. Default: mosquitto, and Mochi MQTT where that is not installed.",
	}),
	protocol: z
		.enum(["5", "3.1.1"])
		.optional()
		.meta({
			description: "Version of MQTT; each has a library of its own. Default: 5.",
			examples: ["3.1.1"],
		}),
	qos: z
		.union([z.literal(0), z.literal(1), z.literal(2)])
		.default(1)
		.meta({
			description:
				"Quality of service of messages and subscriptions. 0: nothing is acknowledged; 1: at least once, by PUBACK; 2: exactly once, by PUBCOMP. Default: 1.",
			examples: [0],
		}),
	session: z.enum(["clean", "persistent"]).default("clean").meta({
		description:
			"What a server does for a consumer whose connection is lost. `clean`: it forgets it; `persistent`: it keeps its subscription and its messages. Default: clean.",
	}),
	receiveMaximum: count(
		"Most messages of QoS 1 and 2 that a client sends, or a consumer gets, before the first of them is acknowledged (max_inflight_messages of mosquitto). Default: 20, mosquitto's own.",
		65_535,
		[100],
	).optional(),
	maxQueued: z
		.int()
		.min(0)
		.max(10_000_000)
		.optional()
		.meta({
			description:
				"mosquitto: messages that it keeps for a client that does not take them; it drops more of them without a word, and they count as lost. 0: no limit. Default: 0; its own is 1000.",
			examples: [1000],
		}),
	keepAlive: span(
		"How long a client may be silent before it pings, whole seconds. Default: 10min, as a paused consumer reads no answer to a ping.",
		["60s"],
		"above 0",
	).optional(),
	tcpNoDelay: z.boolean().default(true).meta({
		description:
			"Small messages leave at once, at both ends (TCP_NODELAY). mosquitto's own default is false.",
	}),
	...tlsField,
	...processFields,
});
export type MqttOptions = z.infer<typeof MqttOptions>;
