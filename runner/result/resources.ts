import type { Collected } from "../evidence/collect.ts";
import { useBetween } from "../evidence/resources.ts";
import { grouped } from "../grouped.ts";
import type { ResourceLine } from "../model/resource-file.ts";
import type { Run } from "../model/result.ts";

type Point = Run["series"]["resources"][number];

/** Rates between two samples; `at` is the end, in seconds since T0. */
export function resourceSeries({ resources, t0Ms }: Collected): Point[] {
	return t0Ms === null ? [] : pointsOf(resources, t0Ms);
}

/** Other machines with clients. */
export function hostSeries({ hosts, t0Ms }: Collected): Run["series"]["hosts"] {
	return hosts.flatMap(({ client, samples }) => {
		if (client === null || t0Ms === null) return [];
		const points = thinned(pointsOf(samples, t0Ms), hosts.length);
		const { index, name } = client;
		return [{ client: index, name, points: points.map(({ broker: _, ...point }) => point) }];
	});
}

/** Machines of the broker's nodes. Undefined if none was observed. */
export function nodeSeries({ nodes, t0Ms }: Collected): Run["series"]["brokerHosts"] {
	const looked = nodes.filter(({ samples }) => samples.length > 1);
	if (t0Ms === null || looked.length === 0) return undefined;
	return looked.flatMap(({ node, samples }) => {
		if (node === undefined) return [];
		const points = thinned(pointsOf(samples, t0Ms), looked.length);
		return [{ node, points: points.map(({ at, machine, network }) => ({ at, machine, network })) }];
	});
}

// --- internal ---

/** Most points of all other machines together, and the fewest of each: the result must not grow with the number of machines. */
const MOST_POINTS = 1200;
const FEWEST = 30;

function pointsOf(samples: readonly ResourceLine[], t0Ms: number): Point[] {
	return samples.slice(1).flatMap((now, i) => {
		const use = useBetween(samples[i], now);
		return use === null ? [] : [{ at: Math.round(now.unixMs - t0Ms) / 1000, ...use }];
	});
}

/** Each point has the largest values of its stretch, at the stretch's end. */
function thinned(points: readonly Point[], machines: number): Point[] {
	const most = Math.max(FEWEST, Math.floor(MOST_POINTS / machines));
	const size = Math.ceil(points.length / most);
	return [...grouped(points.entries(), ([i]) => Math.floor(i / size)).values()].map((stretch) =>
		stretch.map(([, point]) => point).reduce(largest),
	);
}

/** Field by field. If one side lacks a value, the other's counts. The later time is the larger. */
function largest<T>(a: T, b: T): T {
	if (a == null || b == null) return a ?? b;
	if (typeof a !== "object") return (a > b ? a : b) as T;
	const all = Object.entries(a).map(([key, x]) => [key, largest(x, b[key as keyof T])]);
	return Object.fromEntries(all) as T;
}
