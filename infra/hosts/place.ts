import type { Command, End, NodeProcess, Place, TakeLine } from "../nodes/place.ts";
import { describeEnd, type Ended } from "../process.ts";
import { signalThere, startThere } from "../remote/supervised.ts";
import type { ClientProcess } from "../rig.ts";
import { terminate } from "../terminate.ts";
import type { RunFolders } from "./folders.ts";
import type { BrokerHost } from "./host.ts";
import { brokerSamples } from "./samples.ts";

export interface HostPlaceOptions {
	readonly host: BrokerHost;
	readonly folders: RunFolders;
	/** Number of the node, from 1. */
	readonly number: number;
	/** CPUs in the manner of taskset; null: any. */
	readonly cpus: string | null;
	/** How long a process may take to end before it is killed. */
	readonly stopMs: number;
	readonly prepare: Place["prepare"];
	/** Fetches the node's use of resources when nothing runs there any more. */
	fetchSamples(): Promise<void>;
}

/** A folder of a host. Its processes run behind the agent, which ends them when the connection is gone. */
export function hostPlace({
	host,
	folders: { control, store },
	number,
	cpus,
	stopMs,
	prepare,
	fetchSamples,
}: HostPlaceOptions): Place {
	const running = new Set<ClientProcess>();
	const start = (
		{ argv, env = {} }: Command,
		take: TakeLine,
		how: Pick<Parameters<typeof startThere>[2], "pidFile" | "samples" | "aheadNs" | "role">,
	): NodeProcess => {
		const child = startThere(host.link, host.agent, {
			folder: store,
			argv,
			cpus,
			graceMs: stopMs,
			...how,
			env: { TZ: "UTC", ...env },
			onStdout: take,
			onStderr: take,
		});
		running.add(child);
		const ended = child.ended.then((end) => {
			running.delete(child);
			return endOn(host.name, end);
		});
		return {
			ended,
			pid: async () => null,
			signal: (name) => signalThere(host.link, { folder: store, pidFile: how.pidFile }, name),
			end: () => terminate(child, stopMs),
		};
	};
	return {
		host: host.name,
		signals: true,
		prepare,
		run: async (command, take) =>
			start(command, take, {
				pidFile: `${control}/agent-before`,
				samples: "/dev/null",
				aheadNs: 0,
			}),
		start: async (command, take) =>
			start(command, take, {
				pidFile: `${control}/agent-${number}`,
				samples: `${control}/${brokerSamples(number)}`,
				aheadNs: host.aheadNs,
				role: "broker",
			}),
		async close() {
			await Promise.all([...running].map((child) => terminate(child, stopMs)));
			await fetchSamples();
		},
	};
}

/** How a process of a host has ended. */
export function endOn(host: string, end: Ended): End {
	const lost = end.code === null && end.signal === null;
	return {
		how: `${lost ? `the connection to ${host} was lost` : describeEnd(end)}${end.why === undefined ? "" : `: ${end.why}`}`,
		well: end.code === 0,
		lost,
	};
}
