import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { formatBytes } from "../../runner/units.ts";
import type { World } from "../../runner/world.ts";
import type { End, NodeProcess, Place, TakeLine } from "../nodes/place.ts";
import { describeEnd, endOf } from "../process.ts";
import { readOr } from "../read-or.ts";
import { type Docker, DockerError, type Followed } from "./cli.ts";
import { delayPackets } from "./latency.ts";

export interface ContainerPlaceOptions {
	readonly docker: Docker;
	/** Name of the container. */
	readonly name: string;
	readonly network: string;
	/** Its address there. */
	readonly ip: string;
	readonly memory: number | null;
	readonly stopMs: number;
	readonly world: Pick<World, "env">;
	/** Makes the container, with the command that it keeps. */
	readonly prepare: Place["prepare"];
}

/**
 * A container. It can be started, ended and started again with the same data and address. Its output comes from the engine's log, so slow
 * reading does not block it.
 */
export function containerPlace({
	docker,
	name,
	network,
	ip,
	memory,
	stopMs,
	world,
	prepare,
}: ContainerPlaceOptions): Place {
	let log: Followed | null = null;
	let gone = false;
	let killed = false;

	/**
	 * Its state after it has ended. If it was killed, ask for up to 2 s: the reason "out of memory" may come after the end
	 * (containerd/containerd#12372), and is sometimes lost (#8893).
	 */
	const afterwards = async (): Promise<State | null> => {
		for (let tries = 0; ; tries++) {
			const state = await inspect(docker, name);
			const unclear = state?.ExitCode === 137 && !state.Running && !state.OOMKilled;
			if (!unclear || killed || memory === null || tries === 20) return state;
			await sleep(100);
		}
	};

	/** Passes on its lines until it has ended, and returns how it ended. */
	const follow = async (from: readonly string[], take: TakeLine): Promise<End> => {
		for (let args = from; ; args = ["--tail", "0"]) {
			log = docker.follow(["logs", "--follow", ...args, name], take);
			const mine = log;
			await mine.ended;
			mine.abandon();
			if (gone) return end("removed");
			const state = await afterwards();
			if (state === null) return end("removed");
			if (!state.Running) return howItEnded(state, memory, killed);
			// The log ended, not the node.
			await sleep(200);
		}
	};
	const watch = (from: readonly string[], take: TakeLine): NodeProcess => {
		const ended = follow(from, take).catch((error: Error) =>
			end(`Docker does not answer: ${error.message}`),
		);
		const signals = { STOP: ["pause"], CONT: ["unpause"], KILL: ["kill", "--signal", "KILL"] };
		return {
			ended,
			async pid() {
				const state = await inspect(docker, name).catch(() => null);
				return state !== null && isHere(state) ? state.Pid : null;
			},
			async signal(signal) {
				killed ||= signal === "KILL";
				await docker.run([...signals[signal], name]);
				return 1;
			},
			async end() {
				killed = true;
				await docker.run(["stop", "--time", String(Math.ceil(stopMs / 1000)), name], {
					limitMs: stopMs + 60_000,
				});
				await ended;
			},
		};
	};
	return {
		host: null,
		signals: false,
		prepare,
		async start(_, take) {
			killed = false;
			// The log still has the output from before the restart.
			const since = (await inspect(docker, name))?.FinishedAt;
			const again = since !== undefined && !since.startsWith("0001-");
			await docker.run(["start", name]);
			return watch(again ? ["--since", since] : [], take);
		},
		network: {
			async partition() {
				await docker.run(["network", "disconnect", network, name]);
				return async () => {
					await docker.run(["network", "connect", "--ip", ip, network, name]);
				};
			},
			async latency(delayNs) {
				const pid = (await inspect(docker, name))?.Pid ?? 0;
				return delayPackets(pid, delayNs, world.env);
			},
		},
		async close() {
			gone = true;
			log?.abandon();
		},
	};
}

// --- internal ---

const Inspected = z.object({
	Id: z.string(),
	State: z.object({
		Running: z.boolean(),
		OOMKilled: z.boolean().default(false),
		Pid: z.int().default(0),
		ExitCode: z.int().default(0),
		Error: z.string().default(""),
		FinishedAt: z.string().default("0001-"),
	}),
});
type State = z.infer<typeof Inspected>["State"] & { readonly Id: string };

/** null if the container does not exist. */
async function inspect(docker: Docker, name: string): Promise<State | null> {
	try {
		const text = await docker.run(["container", "inspect", "--format", "{{json .}}", name]);
		const { Id, State } = Inspected.parse(JSON.parse(text));
		return { ...State, Id };
	} catch (error) {
		if (error instanceof DockerError && /no such/i.test(error.message)) return null;
		throw error;
	}
}

function end(how: string, well = false): End {
	return { how, well, lost: false };
}

function howItEnded(
	{ OOMKilled, ExitCode, Error: error }: State,
	memory: number | null,
	killed: boolean,
): End {
	const limit = memory === null ? null : `its limit is ${formatBytes(memory)}`;
	const over = `out of memory: ${limit ?? "the machine has no more"}`;
	if (OOMKilled) return end(over);
	const how = error || describeEnd(endOf(ExitCode, null));
	const unclear = ExitCode === 137 && memory !== null && !killed;
	return end(unclear ? `${how}, perhaps ${over}` : how, ExitCode === 0 && !error);
}

/** Whether its pid is a process of the container on this machine: engines in virtual machines count their own. */
function isHere({ Id, Pid }: State): boolean {
	return readOr("", () => readFileSync(`/proc/${Pid}/cgroup`, "utf8")).includes(Id);
}
