import { z } from "zod";
import { broker, traits } from "../../brokers/broker.ts";
import { processFields } from "../../brokers/fields.ts";

const LinesOptions = z.strictObject({
	broker: z.literal("lines").meta({ description: "Lines of text." }),
	...processFields,
	noDelay: z.boolean().default(true).meta({ description: "TCP_NODELAY." }),
});

/** The smallest room: what a scenario may say of a broker that only a test knows, and how it would be run. Its driver is a copy of noop's. */
export const lines = broker(LinesOptions, {
	title: "Lines",
	alsoCalled: { telegraph: "lines" },
	urlSchemes: ["lines"],
	defaultPort: 7000,
	traits: () =>
		traits({
			title: "Lines",
			acks: false,
			delivery: "at-most-once",
			acknowledge: { alone: "automatic", group: "automatic" },
			cannot: { "work-queue": "whoever listens gets all messages" },
			ownDurability: "none, nothing is stored",
		}),
	durability: () => ({ level: null, text: "none, nothing is stored", by: [] }),
	driverOptions: ({ noDelay }) => ({ noDelay }),
	process: {
		packages: ["telegraph"],
		onHosts: { text: () => "the host's telegraph" },
		container: { data: "/lines" },
		ports: () => [{ number: 7000, from: "clients" }],
		async describe() {
			throw new Error("nobody starts it");
		},
	},
	image: { name: "lines", version: "1.0", suffix: "" },
	install: {
		from: "a post office",
		look: async () => ({ here: false, figure: "no line", sentence: "It needs one." }),
	},
});
