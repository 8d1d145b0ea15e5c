import { buildRival } from "../programs.ts";
import { natsLoopRate } from "../tools-output.ts";
import { BYTES, type Contest, type Rival, WARMUP } from "./rival.ts";

export const nats: Contest = {
	rig: { broker: "nats", mode: "jetstream" },
	rivals: [
		{
			tool: "nats.go loop",
			what: "core, publish and receive, 1000 in flight",
			messages: 600_000,
			system: { broker: "nats" },
			pattern: "round-trip",
			inFlight: 1000,
			command: natsLoop("core", 1000),
			rate: natsLoopRate,
			slowStart: false,
		},
		{
			tool: "nats.go loop",
			what: "JetStream, files, async publish, 1000 in flight",
			messages: 200_000,
			system: { broker: "nats", mode: "jetstream" },
			pattern: "publish",
			inFlight: 1000,
			command: natsLoop("jetstream", 1000),
			rate: natsLoopRate,
			slowStart: false,
		},
	],
	rates: { broker: "nats" },
};

// --- internal ---

function natsLoop(mode: string, inFlight: number): Rival["command"] {
	return async (bench, { url }, messages) => ({
		argv: [
			buildRival("nats-loop", bench.folder),
			"-url",
			url,
			"-mode",
			mode,
			"-bytes",
			String(BYTES),
			"-messages",
			String(messages),
			"-in-flight",
			String(inFlight),
			"-warmup",
			String(Math.round(WARMUP * messages)),
		],
	});
}
