import { mkdirSync } from "node:fs";
import path from "node:path";
import { onTestFinished } from "vitest";
import { realBinaries } from "../../infra/binaries/real.fake.ts";
import { dockerSystem } from "../../infra/docker/systems.fake.ts";
import { localRig } from "../../infra/local/local.ts";
import type { Broker, BrokerRequest } from "../../infra/rig.ts";
import { testFolder } from "../../infra/test-folder.fake.ts";
import type { System } from "../scenario/scenario.ts";
import { fakeWorld } from "../world.fake.ts";

/** A system as a scenario writes it. */
export function systemOf(broker: string, written: Readonly<Record<string, unknown>> = {}): System {
	const system = dockerSystem({ broker, ...written });
	return { ...system, binary: system.options.binary ?? null, image: null };
}

/** A real broker on this machine, as a scenario writes it and with that level; it is gone when the test is over. */
export async function started(
	broker: string,
	written: Readonly<Record<string, unknown>> = {},
	parts: Partial<BrokerRequest> = {},
): Promise<Broker & { readonly log: string }> {
	const folder = testFolder();
	mkdirSync(path.join(folder, "tmp"));
	const system = systemOf(broker, written);
	const rig = await localRig(fakeWorld({ env: process.env }), await realBinaries());
	onTestFinished(() => rig.teardown());
	const log = path.join(folder, "broker.log");
	const level = system.options.durability ?? null;
	const asked = { system, level, messageBytes: 256, cpus: null, logPath: log, ...parts };
	return { ...(await rig.open(asked)), log };
}
