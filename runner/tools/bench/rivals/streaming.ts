import { buildRival } from "../programs.ts";
import { stanRate } from "../tools-output.ts";
import { BYTES, type Contest, type Rival } from "./rival.ts";

export const streaming: Contest = {
	rig: { broker: "nats-streaming" },
	rivals: [
		{
			tool: "stan-bench",
			what: "memory, async publish, 1000 in flight",
			messages: 100_000,
			system: { broker: "nats-streaming" },
			pattern: "publish",
			inFlight: 1000,
			command: stanBench(1000),
			rate: stanRate,
			slowStart: false,
		},
	],
	rates: { broker: "nats-streaming" },
};

// --- internal ---

function stanBench(inFlight: number): Rival["command"] {
	return async (bench, { url, run }, messages) => ({
		argv: [
			buildRival("stan-bench", bench.folder, "github.com/nats-io/stan.go/examples/stan-bench"),
			"-s",
			url,
			"-c",
			"test-cluster",
			"-id",
			`tool-${run}`,
			"-np",
			"1",
			"-ns",
			"0",
			"-n",
			String(messages),
			"-ms",
			String(BYTES),
			"-mpa",
			String(inFlight),
			`mqbench-tool-${run}`,
		],
	});
}
