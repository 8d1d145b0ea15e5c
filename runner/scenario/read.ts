import { readFile } from "node:fs/promises";
import path from "node:path";
import { failure } from "../errors.ts";
import { reasonOf } from "../reason.ts";
import { tell } from "../text/tell.ts";
import type { World } from "../world.ts";
import { keepsHosts } from "./known-hosts.ts";
import { around, parseScenario, resolveScenario } from "./load.ts";
import type { GivenRig, Overrides } from "./overrides.ts";
import { shorten } from "./quick.ts";
import { readRig } from "./rig-store.ts";
import type { Scenario } from "./scenario.ts";

interface ReadScenario {
	readonly scenario: Scenario;
	/** What a report keeps a copy of. */
	readonly text: string;
	/** The same scenario on a rig that was stood up for it; `rig` is the path of its file. */
	onRig(rig: string): Promise<Scenario>;
}

/** Reads the scenario file at `file`, relative to the current folder. */
export async function readScenario(
	file: string,
	overrides: Overrides,
	world: Pick<World, "cwd" | "env">,
): Promise<ReadScenario> {
	let text: string;
	try {
		text = await readFile(path.resolve(world.cwd, file), "utf8");
	} catch (error) {
		throw failure("scenario-unreadable", { path: file, reason: reasonOf(error) });
	}
	const parsed = parseScenario(file, text);
	const resolve = async (changes: Overrides) => {
		const rig = changes.rig && { ...(await givenRig(changes.rig, world.cwd)), only: changes.only };
		const scenario = resolveScenario(parsed, changes, world.env, {
			...around(file, world.cwd),
			...(rig ? { rig } : {}),
		});
		return changes.quick ? shorten(scenario) : scenario;
	};
	return {
		scenario: await resolve(overrides),
		text,
		onRig: (rig) => resolve({ ...overrides, target: undefined, rig }),
	};
}

// --- internal ---

async function givenRig(shown: string, cwd: string): Promise<GivenRig> {
	const rig = await readRig({ shown, path: path.resolve(cwd, shown) });
	if (rig === null) throw failure("rig-unreadable", { path: shown, reason: tell("no-such-file") });
	// Paths in it count from its folder, as those of a scenario do from its own; ssh knows a home folder itself.
	const folder = path.dirname(path.resolve(cwd, shown));
	const from = (file: string | undefined) =>
		file === undefined || file.startsWith("~") ? file : path.resolve(folder, file);
	const there = <Host extends SshFiles>(host: Host): Host => {
		const knownHosts = from(host.knownHosts);
		if (knownHosts !== undefined && !host.hostKeyKnown && !keepsHosts(knownHosts))
			throw failure("rig-invalid", {
				path: shown,
				wrong: [tell("rig-known-hosts", { file: knownHosts })],
			});
		return { ...host, identity: from(host.identity), knownHosts };
	};
	return {
		path: shown,
		rig: {
			...rig,
			clients: rig.clients.map(there),
			brokers: rig.brokers.map((broker) => ({ ...broker, hosts: broker.hosts.map(there) })),
		},
	};
}

interface SshFiles {
	readonly identity?: string | undefined;
	readonly knownHosts?: string | undefined;
	readonly hostKeyKnown: boolean;
}
