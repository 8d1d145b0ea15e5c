import { z } from "zod";
import { failure } from "../../runner/errors.ts";
import { tell } from "../../runner/text/tell.ts";
import { describeEnd, endOf } from "../process.ts";
import { explainDocker } from "./cli.ts";
import { LABELS } from "./labels.ts";
import { endDelay } from "./latency.ts";
import type { RigInDocker } from "./rig-in-docker.ts";

/** A container of a rig that stays up, in its current state. */
export interface FoundContainer {
	readonly name: string;
	readonly image: string;
	/** In the rig's network; "" if it is down and does not know. */
	readonly ip: string;
	/** Ports of 127.0.0.1 by the container's ports; empty: none is published. */
	readonly ports: Readonly<Record<string, string>>;
	readonly cpus: number | null;
	readonly memoryBytes: number | null;
	/** It needs a start. */
	readonly down: boolean;
}

/**
 * The containers of a rig. If a run was killed in the middle of a fault, some of them may be paused, cut off or slowed down; this is undone
 * here and reported. Containers that are down are only reported: the caller starts them and waits. Fails with `docker-failed`.
 */
export async function healContainers(
	{
		docker,
		engine,
		network,
		world,
		say,
	}: Pick<RigInDocker, "docker" | "engine" | "world" | "say"> & {
		readonly network: { readonly name: string };
	},
	system: string,
	names: readonly string[],
): Promise<FoundContainer[]> {
	const containers: FoundContainer[] = [];
	for (const [i, name] of names.entries()) {
		const node = names.length === 1 ? `${system}: its container` : `${system}: node ${i + 1}`;
		try {
			const container = Inspected.parse(
				JSON.parse(await docker.run(["container", "inspect", "--format", "{{json .}}", name])),
			);
			const { State, Config, HostConfig } = container;
			let ip = container.NetworkSettings.Networks[network.name]?.IPAddress;
			const fixed = Config.Labels?.[LABELS.address];
			if (ip === undefined) {
				if (!fixed)
					throw failure("docker-failed", {
						doing: `find the address of ${name}`,
						reason: tell("in-no-network"),
					});
				await docker.run(["network", "connect", "--ip", fixed, network.name, name]);
				ip = fixed;
				say(tell("was-cut-off", { node }));
			}
			if (State.Paused) {
				await docker.run(["unpause", name]);
				say(`${node} was still paused; it is running again.`);
			}
			if (!State.Running)
				say(
					`${node} was down (${State.OOMKilled ? "out of memory" : describeEnd(endOf(State.ExitCode, null))}); it is started again.`,
				);
			else if (engine.sameKernel && State.Pid > 0 && (await endDelay(State.Pid, world.env)))
				say(`${node} was still slowed down; the delay is gone.`);
			containers.push({
				name,
				image: Config.Image,
				ip: ip || (fixed ?? ""),
				ports: Object.fromEntries(
					Object.entries(HostConfig.PortBindings ?? {}).map(([port, to]) => [
						port.replace("/tcp", ""),
						to?.[0]?.HostPort ?? "",
					]),
				),
				cpus: HostConfig.NanoCpus > 0 ? HostConfig.NanoCpus / 1e9 : null,
				memoryBytes: HostConfig.Memory > 0 ? HostConfig.Memory : null,
				down: !State.Running,
			});
		} catch (error) {
			throw error instanceof Error && error.constructor === Error
				? failure("docker-failed", { doing: `make ${name} as it was`, reason: error.message })
				: explainDocker(error, `find the containers of ${system}`);
		}
	}
	return containers;
}

// --- internal ---

const Inspected = z.object({
	Config: z.object({ Image: z.string(), Labels: z.record(z.string(), z.string()).nullish() }),
	State: z.object({
		Running: z.boolean(),
		Paused: z.boolean().default(false),
		OOMKilled: z.boolean().default(false),
		Pid: z.int().default(0),
		ExitCode: z.int().default(0),
	}),
	HostConfig: z.object({
		NanoCpus: z.number().default(0),
		Memory: z.number().default(0),
		PortBindings: z
			.record(z.string(), z.array(z.object({ HostPort: z.string() })).nullable())
			.nullish(),
	}),
	NetworkSettings: z.object({
		Networks: z.record(z.string(), z.object({ IPAddress: z.string() })),
	}),
});
