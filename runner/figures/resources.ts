import { largestOf } from "../extremes.ts";
import { secondsOf } from "../model/line-seconds.ts";
import type { Run } from "../model/result.ts";
import { type Rows, ticksOf, worst } from "./stretches.ts";

/**
 * What generator and broker used; of a longer stretch the most. The generator's CPU is its own count where nobody has looked from outside. Clients
 * on other machines have a line each, the busiest of them; of hosts of the broker's nodes the network.
 */
export function resourcePanels(run: Run, size: number): Rows[] {
	const { series, window } = run;
	const warmup = window.startNs / 1e9;
	const end = Math.ceil(window.endNs / 1e9);
	const used = <L extends { readonly at: number }>(looks: readonly L[], of: Of<L>, each = size) => {
		const within = looks.filter(({ at }) => Math.round(at) > 0 && Math.round(at) <= end);
		return worst(
			within.map((look) => [Math.round(look.at) - 1 - warmup, of(look) ?? null]),
			each,
		);
	};
	const own = (of: Of<(typeof series.resources)[number]>) => used(series.resources, of);
	const ticks = (of: (tick: Tick) => number) =>
		worst(
			ticksOf(run).map((t) => [t.at - secondsOf(t) - warmup, of(t)]),
			size,
		);
	const { machines, ofMachines, ofNodes } = machinesOf(run);
	// A line for each of them.
	const others = (of: Of<Look>, suffix = "", what = "") =>
		machines.map(({ key, name, points }, i) => {
			// Those of long runs stand for stretches already.
			const data = used(points, of, Math.max(size, Math.ceil(end / points.length)));
			return [key + suffix, name + what, FIRST_MACHINE + i, data] as const;
		});
	const looked = series.resources.some((l) => l.generator?.cores != null);
	// Between processes of one machine nothing goes over a network.
	const distant = machines.length > 0 || run.sameHost === false;
	return [
		{
			title: `CPU, cores${ofMachines}`,
			unit: "cores",
			rows: [
				looked
					? ["generator", "generator", 0, own((l) => l.generator?.cores)]
					: [
							"generator",
							series.hosts.length === 0 ? "generator" : "all generators",
							0,
							ticks((t) => t.cpuNs / secondsOf(t) / 1e9),
						],
				["broker", "broker", 1, own((l) => l.broker?.cores)],
				...others((l) => l.generator?.cores),
			],
		},
		{
			title: `network, bytes per second${ofNodes}`,
			unit: "bytes/s",
			rows: distant
				? [
						["machine", "this machine sends", 0, own(sent)],
						["machine-receives", "this machine receives", 1, own(received)],
						...others(sent, "", " sends"),
						...others(received, "-receives", " receives"),
					]
				: [],
		},
		{
			title: "disk, bytes per second",
			unit: "bytes/s",
			rows: [
				["generator", "generator writes", 0, own((l) => l.generator?.writeBytesPerSecond)],
				["broker", "broker writes", 1, own((l) => l.broker?.writeBytesPerSecond)],
				["broker-reads", "broker reads", 2, own((l) => l.broker?.readBytesPerSecond)],
			],
		},
		{
			title: "memory (RSS)",
			unit: "bytes",
			rows: [
				["generator", "generator", 0, own((l) => l.generator?.rssBytes)],
				["broker", "broker", 1, own((l) => l.broker?.rssBytes)],
				...others((l) => l.generator?.rssBytes),
			],
		},
		{
			title: "generator stopped by garbage collection, per second",
			unit: "ns",
			rows: [["generator", "generator", 0, ticks((t) => t.gcPauseNs)]],
		},
	];
}

// --- internal ---

type Tick = Run["series"]["ticks"][number];
type Host = Run["series"]["hosts"][number];
type HostLook = Host["points"][number];
/** The broker's nodes have no generator. */
type Look = Pick<HostLook, "at" | "network"> & Partial<Pick<HostLook, "generator">>;
type Of<L> = (look: L) => number | null | undefined;

const sent = ({ network }: Pick<Look, "network">) => network?.txBytesPerSecond;
const received = ({ network }: Pick<Look, "network">) => network?.rxBytesPerSecond;

/** More lines than these cannot be told apart. */
const MOST_MACHINES = 4;
/** Of colour and dashes: a machine keeps its place over all panels. */
const FIRST_MACHINE = 3;

/** Other machines of clients, those whose generators used most, in the order of clients; then hosts of the broker's nodes. */
function machinesOf({ series: { hosts, brokerHosts = [] } }: Run) {
	const most = ({ points }: Host) => largestOf(points.map((p) => p.generator?.cores ?? 0));
	const clients = hosts
		.filter(({ points }) => points.length > 0)
		.toSorted((a, b) => most(b) - most(a))
		.slice(0, MOST_MACHINES)
		.sort((a, b) => a.client - b.client);
	const nodes = brokerHosts.slice(0, MOST_MACHINES);
	const part = (some: number, all: number, what: string) =>
		all > some ? `; of ${some} of ${all} ${what}` : "";
	const nodeName = (node: number) =>
		nodes.length === 1 ? "the broker's host" : `host of node ${node}`;
	const machines: { key: string; name: string; points: readonly Look[] }[] = [
		...clients.map(({ client, name, points }) => ({ key: `host-${client}`, name, points })),
		...nodes.map(({ node, points }) => ({ key: `node-${node}`, name: nodeName(node), points })),
	];
	return {
		machines,
		ofMachines: part(clients.length, hosts.length, "machines"),
		ofNodes: part(nodes.length, brokerHosts.length, "nodes"),
	};
}
