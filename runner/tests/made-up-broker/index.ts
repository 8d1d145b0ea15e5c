import { z } from "zod";
import { broker } from "../../brokers/broker.ts";
import { processFields } from "../../brokers/fields.ts";
import { installedServer } from "../../brokers/server.ts";

const LinesOptions = z.strictObject({
	broker: z.literal("lines").meta({ description: "Lines of text." }),
	...processFields,
	noDelay: z.boolean().default(true).meta({ description: "TCP_NODELAY." }),
});

/** The smallest broker definition: the options of a broker that only a test has, and the way to run it. Its driver is a copy of noop's. */
export const lines = broker(LinesOptions, {
	title: "Lines",
	alsoCalled: { telegraph: "lines" },
	urls: { lines: 7000 },
	traits: () => ({ cannot: { "work-queue": "whoever listens gets all messages" } }),
	server: installedServer({
		name: "telegraph",
		from: "a post office",
		install: "ask at the counter",
		image: { name: "lines", version: "1.0" },
		ports: 7000,
		launch() {
			throw new Error("nobody starts it");
		},
	}),
});
