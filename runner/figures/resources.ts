import { secondsOf } from "../model/line-seconds.ts";
import type { Run } from "../model/result.ts";
import { plural } from "../units.ts";
import { type OverTime, ticksOf, worst } from "./stretches.ts";

/** A panel for each resource, a line for each user; a longer stretch shows the most. */
export function resourcePanels(run: Run, size: number): OverTime[] {
	const { series, window } = run;
	const warmup = window.startNs / 1e9;
	const end = Math.ceil(window.endNs / 1e9);
	const users = usersOf(run);
	const left = series.hosts.length + (series.brokerHosts?.length ?? 0) - MOST_MACHINES;
	const more = left > 0 ? `; without ${plural(left, "machine")}` : "";
	const panels = PANELS.map(({ title, unit, lines }): OverTime => {
		const all = Object.entries(lines).flatMap(([what, of], column) =>
			users.map(({ name, looks }, i) => {
				const within = looks.filter(({ at }) => Math.round(at) > 0 && Math.round(at) <= end);
				const values = within.map((l) => [Math.round(l.at) - 1 - warmup, of(l)] as const);
				const dash = i + column * users.length;
				return [`${name}${what}`, dash, worst(values, size)] as const;
			}),
		);
		return { title: `${title}${more}`, unit, lines: all };
	});
	const pauses = ticksOf(run).map((t) => [t.at - secondsOf(t) - warmup, t.gcPauseNs] as const);
	return [
		...panels,
		{
			title: "generator stopped by garbage collection, per second",
			unit: "ns",
			lines: [["generator", 0, worst(pauses, size)]],
		},
	];
}

// --- internal ---

type Series = Run["series"];
type Used = NonNullable<Series["resources"][number]["generator"]>;
type Network = NonNullable<Series["resources"][number]["network"]>;
type Look = { readonly at: number } & Partial<Used> & Partial<Network>;

const PANELS: readonly (Pick<OverTime, "title" | "unit"> & {
	/** By the words that follow the user's name. */
	readonly lines: Readonly<Record<string, (look: Look) => number | null | undefined>>;
})[] = [
	{ title: "CPU, cores", unit: "cores", lines: { "": (l) => l.cores } },
	{
		title: "network, bytes per second",
		unit: "bytes/s",
		lines: { " sends": (l) => l.txBytesPerSecond, " receives": (l) => l.rxBytesPerSecond },
	},
	{
		title: "disk, bytes per second",
		unit: "bytes/s",
		lines: { " writes": (l) => l.writeBytesPerSecond, " reads": (l) => l.readBytesPerSecond },
	},
	{ title: "memory (RSS)", unit: "bytes", lines: { "": (l) => l.rssBytes } },
];

/** More lines than these cannot be distinguished. */
const MOST_MACHINES = 4;

/** The generator, which counts its own CPU if nothing looked from outside, the broker, and other machines with their network. */
function usersOf(run: Run): { readonly name: string; readonly looks: readonly Look[] }[] {
	const { resources, hosts, brokerHosts = [] } = run.series;
	const own = ticksOf(run).map((t) => ({ at: t.at, cores: t.cpuNs / secondsOf(t) / 1e9 }));
	const looked = resources.map(({ at, generator }) => ({ at, ...generator }));
	const machines = [
		...hosts.map(({ name, points }) => ({
			name,
			looks: points.map(({ at, generator, network }) => ({ at, ...generator, ...network })),
		})),
		...brokerHosts.map(({ node, points }) => ({
			name: brokerHosts.length === 1 ? "the broker's host" : `host of node ${node}`,
			looks: points.map(({ at, network }) => ({ at, ...network })),
		})),
	];
	// Processes of one machine use no network.
	const distant = machines.length > 0 || run.sameHost === false;
	const here = resources.map(({ at, network }) => ({ at, ...network }));
	return [
		{ name: "generator", looks: looked.some(({ cores }) => cores != null) ? looked : own },
		{ name: "broker", looks: resources.map(({ at, broker }) => ({ at, ...broker })) },
		...(distant ? [{ name: "this machine", looks: here }] : []),
		...machines.slice(0, MOST_MACHINES),
	];
}
