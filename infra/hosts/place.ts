import { signalThere, startThere } from "../machines/spawn.ts";
import type { End, NodeProcess, Place, TakeLine } from "../nodes/place.ts";
import { describeEnd, type Ended, terminate } from "../process.ts";
import type { ClientProcess } from "../rig.ts";
import type { HostSite } from "./sites.ts";

export interface PlaceOptions {
	readonly site: HostSite;
	/** Number of the node, from 1. */
	readonly number: number;
	/** How long a process may take to end before it is killed. */
	readonly stopMs: number;
	/** Fetches the node's use of resources when nothing runs there any more. */
	fetchSamples(): Promise<void>;
}

export interface HostPlaceOptions extends PlaceOptions {
	/** CPUs in the manner of taskset; null for any. */
	readonly cpus: string | null;
	readonly prepare: Place["prepare"];
}

/** Name of the file of a broker's node (from 1) in the folder of a run: lines as in runner/model/resource-file.ts. */
export function brokerSamples(node: number): string {
	return `resources-broker-${node}.jsonl`;
}

/** A folder of a host. Its processes run behind the agent, which ends them when the connection is gone. */
export function hostPlace({ prepare, fetchSamples, ...options }: HostPlaceOptions): Place {
	const { host } = options.site;
	const { start, close } = nodeStarter(options);
	return {
		host: host.name,
		signals: true,
		prepare,
		run: async ({ argv, env }, take) => start({ argv, env: { TZ: "UTC", ...env } }, take, "before"),
		start: async ({ argv, env }, take) => start({ argv, env: { TZ: "UTC", ...env } }, take),
		async close() {
			await close();
			await fetchSamples();
		},
	};
}

/** Starts a node, or its preparations, behind `agent`: by default the host's own. `close` ends everything still running. */
export function nodeStarter({
	site: { host, folders },
	number,
	cpus,
	stopMs,
}: Omit<HostPlaceOptions, "prepare" | "fetchSamples">) {
	const { control, store } = folders;
	const running = new Set<ClientProcess>();
	return {
		start(
			command: { readonly argv: readonly string[]; readonly env: Readonly<Record<string, string>> },
			take: TakeLine,
			what: "node" | "before" = "node",
			inside: { readonly agent: readonly string[]; readonly samples: string } | null = null,
		): NodeProcess {
			const pidFile = `${control}/agent-${what === "node" ? number : what}`;
			const child = startThere(host.link, inside?.agent ?? host.agent, {
				...command,
				folder: store,
				pidFile,
				samples:
					inside?.samples ??
					(what === "node" ? `${control}/${brokerSamples(number)}` : "/dev/null"),
				cpus,
				graceMs: stopMs,
				role: "broker",
				aheadNs: host.clock.offsetNs,
				onStdout: take,
				onStderr: take,
			});
			running.add(child);
			return {
				ended: child.ended.then((end) => {
					running.delete(child);
					return endOn(host.name, end);
				}),
				pid: async () => null,
				signal: (name) => signalThere(host.link, { folder: store, pidFile }, name),
				end: () => terminate(child, stopMs),
			};
		},
		async close() {
			await Promise.all([...running].map((child) => terminate(child, stopMs)));
		},
	};
}

// --- internal ---

function endOn(host: string, end: Ended): End {
	const lost = end.code === null && end.signal === null;
	return {
		how: `${lost ? `the connection to ${host} was lost` : describeEnd(end)}${end.why === undefined ? "" : `: ${end.why}`}`,
		well: end.code === 0,
		lost,
	};
}
