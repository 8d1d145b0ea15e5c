import { mkdirSync } from "node:fs";
import path from "node:path";
import { onTestFinished } from "vitest";
import { dockerSystem } from "../../infra/docker/systems.fake.ts";
import { type FakeHosts, hostSetup } from "../../infra/hosts/setup.fake.ts";
import * as local from "../../infra/local/described.fake.ts";
import { localRig } from "../../infra/local/local.ts";
import { realBinaries } from "../../infra/programs/real.fake.ts";
import type { Broker, BrokerRequest } from "../../infra/rig.ts";
import { testFolder } from "../../infra/test-folder.fake.ts";
import type { Level } from "../model/plan.ts";
import type { System } from "../scenario/scenario.ts";
import { fakeWorld } from "../world.fake.ts";
import { processes } from "./index.ts";

type Some = Readonly<Record<string, unknown>>;

export function systemOf(broker: string, written: Some = {}): System {
	const system = dockerSystem({ broker, ...written });
	return { ...system, binary: system.options.binary ?? null, image: null };
}

/** A real broker on this machine, gone when the test is over. */
export async function started(
	broker: string,
	written: Some = {},
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

export async function describedHere(
	broker: string,
	written: Some = {},
	parts: {
		readonly level?: Level | null;
		readonly messageBytes?: number;
		readonly env?: Readonly<Record<string, string | undefined>>;
	} = {},
) {
	const env = { PATH: process.env.PATH };
	const asked = { env, ...parts, system: systemOf(broker, written) };
	return local.describedHere(processOf(broker), await realBinaries(), asked);
}

export async function describedThere(
	written: Some & { readonly broker: string },
	hosts: FakeHosts = {},
) {
	const setup = hostSetup(written, hosts);
	Object.assign(setup.system, { binary: written.binary ?? null });
	const made = await processOf(written.broker).describe(setup);
	return {
		...made,
		brought: setup.brought,
		file: (name: string, node = 1) => made.nodes[node - 1]?.files[name] ?? "",
	};
}

// --- internal ---

function processOf(broker: string) {
	const process = processes[broker];
	if (!process) throw new Error(`${broker} has no process`);
	return process;
}
