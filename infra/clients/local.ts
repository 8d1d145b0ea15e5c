import { execFile } from "node:child_process";
import { access } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { World } from "../../runner/world.ts";
import { pinned } from "../local/pinned.ts";
import { pingOf } from "../ping.ts";
import { machineName, ownIdentity, platformName } from "../platform.ts";
import { bareEnvironment, startSupervised } from "../process.ts";
import type { Binaries } from "../programs/resolve.ts";
import type { Client, Workspace } from "../rig.ts";

/** Clients that are processes of this machine. They share its clock and work in the run's folder itself. */
export function localClients(
	count: number,
	world: World,
	binaries: Pick<Binaries, "k6" | "agent">,
): Client[] {
	return Array.from({ length: count }, (_, index) =>
		localClient(index, count === 1 ? "this machine" : `process ${index}`, world, binaries),
	);
}

/** For a client that works in the run's folder itself, where each file already is. */
export function sameFolder(local: string): Omit<Workspace, "start"> {
	const there = (file: string) => access(path.join(local, file));
	return {
		put: there,
		fetch: (file) =>
			there(file).then(
				() => true,
				() => false,
			),
		async remove() {},
	};
}

// --- internal ---

function localClient(
	index: number,
	name: string,
	world: World,
	{ k6, agent }: Pick<Binaries, "k6" | "agent">,
): Client {
	return {
		index,
		name,
		kind: "local",
		sameClock: true,
		async prepare() {
			const facts = { kernel: os.release(), cores: os.availableParallelism() };
			return {
				...facts,
				identity: ownIdentity(),
				machine: machineName(platformName(process.platform, process.arch), facts),
			};
		},
		clock: async () => ({ offsetNs: 0, boundNs: 0 }),
		ping: async (address) =>
			pingOf(
				await new Promise((resolve) =>
					execFile(agent, ["ping", address], (_, out, err) => resolve(out + err)),
				),
			),
		async workspace(local) {
			return {
				...sameFolder(local),
				start: (command) =>
					startSupervised({
						agent,
						argv: pinned([k6, ...command.args], command.cpus, world.env),
						cwd: local,
						env: { ...bareEnvironment(local, world.env), ...command.env },
						graceMs: command.graceMs,
						control: true,
						onStdout: command.onStdout,
						onStderr: command.onStderr,
					}),
			};
		},
		async close() {},
	};
}
