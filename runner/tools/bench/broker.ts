import path from "node:path";
import { localRig } from "../../../infra/local/local.ts";
import type { Broker } from "../../../infra/rig.ts";
import { loadScenario } from "../../scenario/load.ts";
import type { System } from "../../scenario/scenario.ts";
import type { Bench } from "./tools-run.ts";

/** A system of a scenario with these options, and nothing else. */
export function systemOf(options: Readonly<Record<string, unknown>>): System {
	const text = JSON.stringify({
		systems: { theirs: options },
		workload: { pattern: "round-trip", message: "1KiB", messages: 1 },
	});
	const [system] = loadScenario("rates.yaml", text).systems;
	if (!system) throw new Error("the scenario has no system");
	return system;
}

/** Starts it on this machine, as `mqbench run` does. Whoever opens it closes it. */
export async function openBroker(
	{ world, binaries, folder }: Bench,
	name: string,
	system: System,
	messageBytes: number,
): Promise<Broker> {
	const local = await localRig(world, binaries);
	return local.open({
		system,
		level: null,
		messageBytes,
		cpus: null,
		logPath: path.join(folder, `${name}.log`),
	});
}
