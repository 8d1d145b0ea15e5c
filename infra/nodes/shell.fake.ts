import type { BrokerProcess, Described } from "../../runner/brokers/process.ts";

/** For tests: a broker whose nodes are pieces of shell; one is ready when it prints that. */
export function shellBroker(
	nodes: readonly string[],
	parts: Partial<Described> = {},
): BrokerProcess & { readonly nodes: number } {
	return {
		nodes: nodes.length,
		packages: [],
		onHosts: { text: () => "sh" },
		container: { data: "/data" },
		ports: () => [{ number: 4222, from: "clients" }],
		describe: async () => ({
			nodes: nodes.map((body) => ({ argv: ["/bin/sh", "-c", body], files: {} })),
			data: null,
			flushes: false,
			ready: (line) => line === "ready",
			url: () => "nats://127.0.0.1:1",
			version: () => "shell 1",
			settings: { flush: "never" },
			startMs: 10_000,
			stopMs: 1_000,
			...parts,
		}),
	};
}
