import type { TimeFigure } from "../chart/old-figure.ts";
import { largestOf } from "../extremes.ts";
import { secondsOf } from "../model/line-seconds.ts";
import type { Run } from "../model/result.ts";
import { tell } from "../text/tell.ts";
import { type Draft, type Points, ticksOf, worst } from "./points.ts";

type Unit = TimeFigure["panels"][number]["unit"];

/**
 * What generator and broker used; of a longer stretch the most. The generator's CPU is its own count where nobody has looked from outside. Clients
 * on other machines have a line each, the busiest of them; of hosts of the broker's nodes the network.
 */
export function resources(run: Run, size: number): Draft[] {
	const warmup = run.window.startNs / 1e9;
	const end = Math.ceil(run.window.endNs / 1e9);
	const looks = run.series.resources;
	type Look = (typeof looks)[number];
	const series = (of: (look: Look) => number | null | undefined): Points =>
		worst(
			looks
				.filter(({ at }) => Math.round(at) > 0 && Math.round(at) <= end)
				.map(({ at, ...look }) => [Math.round(at) - 1 - warmup, of({ at, ...look }) ?? null]),
			size,
		);
	const ofTicks = (of: (tick: Run["series"]["ticks"][number]) => number) =>
		worst(
			ticksOf(run).map((t) => [t.at - secondsOf(t) - warmup, of(t)]),
			size,
		);
	const looked = looks.some((l) => l.generator?.cores != null);
	const linesOf = <L extends { readonly at: number }>(
		points: readonly L[],
		of: (look: L) => number | null | undefined,
	): Points => {
		// Those of long runs stand for stretches already.
		const own = Math.max(size, Math.ceil(end / points.length));
		return worst(
			points
				.filter(({ at }) => Math.round(at) > 0 && Math.round(at) <= end)
				.map((look) => [Math.round(look.at) - 1 - warmup, of(look) ?? null]),
			own,
		);
	};
	const hosts = busiest(run).map((host, i) => ({
		key: `host-${host.client}`,
		name: host.name,
		place: FIRST_HOST + i,
		series: (of: (look: HostLook) => number | null | undefined): Points => linesOf(host.points, of),
	}));
	const others = run.series.hosts.length;
	const shown = others > hosts.length ? `; of ${hosts.length} of ${others} machines` : "";
	const ofHosts = (
		of: (look: HostLook) => number | null | undefined,
		[suffix, what]: readonly [string, string] = ["", ""],
	): HostLine[] =>
		hosts.map(({ key, name, place, series }) => [
			`${key}${suffix}`,
			`${name}${what}`,
			series(of),
			place,
		]);
	const all = run.series.brokerHosts ?? [];
	const nodes = all.slice(0, MOST_HOSTS);
	const first = all.length > nodes.length ? `; of ${nodes.length} of ${all.length} nodes` : "";
	type NodeLook = (typeof nodes)[number]["points"][number];
	const ofNodes = (
		of: (look: NodeLook) => number | null | undefined,
		[suffix, what]: readonly [string, string],
	): HostLine[] =>
		nodes.map(({ node, points }, i) => [
			`node-${node}${suffix}`,
			`${nodes.length === 1 ? "the broker's host" : `host of node ${node}`}${what}`,
			linesOf(points, of),
			FIRST_HOST + hosts.length + i,
		]);
	// Between processes of one machine nothing goes over a network.
	const far = others > 0 || nodes.length > 0 || run.sameHost === false;
	const network: readonly HostLine[] = far
		? [
				["machine", "this machine sends", series((l) => l.network?.txBytesPerSecond)],
				["machine-receives", "this machine receives", series((l) => l.network?.rxBytesPerSecond)],
				...ofHosts((l) => l.network?.txBytesPerSecond, ["", " sends"]),
				...ofHosts((l) => l.network?.rxBytesPerSecond, ["-receives", " receives"]),
				...ofNodes((l) => l.network?.txBytesPerSecond, ["", " sends"]),
				...ofNodes((l) => l.network?.rxBytesPerSecond, ["-receives", " receives"]),
			]
		: [];
	const panel = (title: string, unit: Unit, lines: readonly HostLine[]): Draft => ({
		title,
		unit,
		logarithmic: false,
		limits: [],
		lines: lines.some(([, , points]) => points.some(([, v]) => (v ?? 0) > 0))
			? lines
					.filter(([, , points]) => points.some(([, v]) => v !== null))
					.map(([key, name, points, place = COLOURS[key] ?? 0]) => ({
						key,
						name,
						offset: place,
						dash: place,
						hidden: false,
						steps: true,
						points,
					}))
			: [],
	});
	return [
		panel(`CPU, cores${shown}`, "cores", [
			[
				"generator",
				looked || others === 0 ? "generator" : "all generators",
				looked ? series((l) => l.generator?.cores) : ofTicks((t) => t.cpuNs / secondsOf(t) / 1e9),
			],
			["broker", "broker", series((l) => l.broker?.cores)],
			...ofHosts((l) => l.generator?.cores),
		]),
		panel(`network, bytes per second${first}`, "bytes/s", network),
		panel("disk, bytes per second", "bytes/s", [
			["generator", "generator writes", series((l) => l.generator?.writeBytesPerSecond)],
			["broker", "broker writes", series((l) => l.broker?.writeBytesPerSecond)],
			["broker-reads", "broker reads", series((l) => l.broker?.readBytesPerSecond)],
		]),
		panel("memory (RSS)", "bytes", [
			["generator", "generator", series((l) => l.generator?.rssBytes)],
			["broker", "broker", series((l) => l.broker?.rssBytes)],
			...ofHosts((l) => l.generator?.rssBytes),
		]),
		panel(tell("axis-garbage-collection"), "ns", [
			["generator", "generator", ofTicks((t) => t.gcPauseNs)],
		]),
	];
}

// --- internal ---

type HostLook = Run["series"]["hosts"][number]["points"][number];

type HostLine = readonly [key: string, name: string, points: Points, place?: number];

/** More lines than these cannot be told apart. */
const MOST_HOSTS = 4;
const FIRST_HOST = 3;

/** By what their generator used at most; in the order of clients. */
function busiest({ series: { hosts } }: Run): Run["series"]["hosts"] {
	const most = (host: (typeof hosts)[number]) =>
		Math.max(0, largestOf(host.points.map((p) => p.generator?.cores ?? 0)));
	return hosts
		.filter(({ points }) => points.length > 0)
		.toSorted((a, b) => most(b) - most(a))
		.slice(0, MOST_HOSTS)
		.sort((a, b) => a.client - b.client);
}

/** Positions of colour and dashes: a process keeps them over all panels. */
const COLOURS: Readonly<Record<string, number>> = {
	generator: 0,
	broker: 1,
	"broker-reads": 2,
	machine: 0,
	"machine-receives": 1,
};
