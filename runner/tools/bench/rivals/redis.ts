import { redisRate } from "../tools-output.ts";
import { BYTES, type Contest, findTool, type Rival } from "./rival.ts";

export const redis: Contest = {
	rig: { broker: "redis" },
	rivals: [
		{
			tool: "redis-benchmark",
			what: "XADD MAXLEN ~ 100000, -P 100",
			messages: 400_000,
			system: { broker: "redis", mode: "streams", maxLength: 100_000 },
			pattern: "publish",
			inFlight: 100,
			command: redisBenchmark(100),
			rate: redisRate,
			slowStart: false,
		},
	],
	rates: { broker: "redis" },
};

// --- internal ---

function redisBenchmark(inFlight: number): Rival["command"] {
	return async ({ world }, { url }, messages) => ({
		argv: [
			findTool("redis-benchmark", world.env),
			"-a",
			new URL(url).password,
			"-p",
			new URL(url).port,
			"-c",
			"1",
			"-P",
			String(inFlight),
			"-n",
			String(messages),
			"--csv",
			"XADD",
			"mqbench-tool",
			"MAXLEN",
			"~",
			"100000",
			"*",
			"p",
			"x".repeat(BYTES),
		],
	});
}
