import type { BrokerProcess, Described, StartedSystem } from "../../runner/brokers/process.ts";
import type { Level } from "../../runner/model/plan.ts";
import { fakeWorld } from "../../runner/world.fake.ts";
import type { Binaries } from "../programs/resolve.ts";
import { testFolder } from "../test-folder.fake.ts";
import { HERE, localSites } from "./sites.ts";
import { toolsOf } from "./tools.ts";

/** For tests: a broker's description on this machine, without starting it. Ports are 1, 2, 3, ... */
export async function describedHere(
	kind: BrokerProcess,
	binaries: Binaries,
	asked: {
		readonly system: StartedSystem;
		readonly env: Readonly<Record<string, string | undefined>>;
		readonly level?: Level | null;
		readonly messageBytes?: number;
	},
): Promise<
	Described & {
		readonly store: string;
		/** Text of a file of a node, from 1. */
		file(name: string, node?: number): string;
	}
> {
	const store = testFolder();
	const { system, env, level = null, messageBytes = 256 } = asked;
	const made = await kind.describe({
		system,
		level,
		messageBytes,
		...HERE,
		nodes: await localSites(kind, {
			count: system.options.nodes ?? 1,
			store,
			ports: async (count) => Array.from({ length: count }, (_, i) => i + 1),
			memoryFolder: async () => testFolder(),
		}),
		tools: toolsOf(fakeWorld({ env }), binaries),
	});
	return { ...made, store, file: (name, node = 1) => made.nodes[node - 1]?.files[name] ?? "" };
}
