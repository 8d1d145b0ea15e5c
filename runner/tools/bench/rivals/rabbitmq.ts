import path from "node:path";
import { packageFolder } from "../../../package.ts";
import { perfTestRate } from "../tools-output.ts";
import { BYTES, type Contest, findJars, findTool, type Rival } from "./rival.ts";

export const rabbitmq: Contest = {
	rig: { broker: "rabbitmq" },
	rivals: [
		{
			tool: "PerfTest",
			what: "classic queue, transient messages, confirms, 1000 in flight",
			messages: 100_000,
			system: { broker: "rabbitmq", persistent: false },
			pattern: "publish",
			inFlight: 1000,
			command: perfTest(1000),
			rate: perfTestRate,
			slowStart: true,
		},
	],
	rates: { broker: "rabbitmq", durability: "memory" },
};

// --- internal ---

function perfTest(inFlight: number): Rival["command"] {
	return async (bench, { url, run }, messages) => {
		const jars = await findJars(bench, {
			name: "perf-test",
			pom: path.join(packageFolder, "runner/tools/bench/rivals/perf-test.pom.xml"),
			sums: null,
			system: "rabbitmq",
		});
		return {
			argv: [
				findTool("java", bench.world.env),
				"-cp",
				path.join(jars, "*"),
				"com.rabbitmq.perf.PerfTest",
				"--producers",
				"1",
				"--consumers",
				"0",
				"--size",
				String(BYTES),
				"--confirm",
				String(inFlight),
				"--pmessages",
				String(messages),
				// A queue for each run, which the broker removes when it has been left alone.
				"--queue",
				`mqbench-tool-${run}`,
				"--auto-delete",
				"false",
				"--queue-args",
				"x-expires=20000",
			],
			env: { URI: url },
		};
	};
}
