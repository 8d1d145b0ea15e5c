import { expect, test } from "vitest";
import type { Run } from "../model/result.ts";
import { fixtureResult } from "../result/stored.fake.ts";
import { subjectOf } from "./facts.ts";
import { timeFigure } from "./time.ts";

function runOf(name: string, series: (run: Run) => Partial<Run["series"]> = () => ({})): Run {
	const [run] = fixtureResult(name).runs as [Run];
	return { ...run, series: { ...run.series, ...series(run) } };
}

/** Title, and the names and values of the window of a panel. */
function panelOf(run: Run, title: string) {
	const result = { ...fixtureResult("healthy"), runs: [run] };
	const panel = timeFigure(subjectOf(run, result), 300)?.panels.find((p) =>
		p.title.startsWith(title),
	);
	const series = panel?.series ?? [];
	expect(new Set(series.map(({ name }) => name)).size).toBe(series.length);
	const valuesOf = ({ data }: (typeof series)[number]) =>
		data.flatMap(({ x, y }) => (x >= 0 ? [y] : []));
	return {
		title: panel?.title,
		names: series.map(({ name }) => name),
		values: new Map(series.map((one) => [one.name, valuesOf(one)])),
	};
}

test("stand at their second of the window, with the pauses of the garbage collector", () => {
	const run = runOf("healthy");
	const broker = panelOf(run, "CPU").values.get("broker") ?? [];
	expect(broker).toHaveLength(5);
	for (const cores of broker) expect(cores).toBeGreaterThan(0);
	const collected = panelOf(run, "generator stopped by garbage");
	expect(collected.values.get("generator")).toContain(40_000);
});

test("the generator's own count is there where nobody has looked from outside", () => {
	expect(
		panelOf(
			runOf("healthy", () => ({ resources: [] })),
			"CPU",
		).names,
	).toEqual(["generator"]);
});

test("clients on other machines have a line each, and the network its own panel", () => {
	const hosts = [11, 12, 13].map((n) => `bench@10.0.0.${n}`);
	const cores = panelOf(runOf("clients"), "CPU");
	// This machine was not observed: its line is what the clients counted themselves.
	expect(cores.names).toEqual(["generator", ...hosts]);
	expect(cores.values.get("bench@10.0.0.13")).toEqual(Array(10).fill(0.23));
	const network = panelOf(runOf("clients"), "network");
	expect(network.names).toEqual(
		["sends", "receives"].flatMap((what) => hosts.map((host) => `${host} ${what}`)),
	);
	expect(network.values.get("bench@10.0.0.13 receives")?.at(-1)).toBe(186_000);
});

test.each([
	[1, ["the broker's host"], ""],
	[2, ["host of node 1", "host of node 2"], ""],
	[5, [1, 2, 3, 4].map((node) => `host of node ${node}`), "; without 1 machine"],
])("hosts of %d nodes have lines for the network", (nodes, names, first) => {
	const brokerHosts = Array.from({ length: nodes }, (_, i) => ({
		node: i + 1,
		points: [1, 2, 3].map((at) => ({
			at,
			machine: { busyCores: 1, stealCores: 0 },
			network: { rxBytesPerSecond: 1000, txBytesPerSecond: 9 + i },
		})),
	}));
	const network = panelOf(
		runOf("healthy", () => ({ brokerHosts })),
		"network",
	);
	expect(network.title).toBe(`network, bytes per second${first}`);
	expect(network.names.filter((name) => !name.startsWith("this machine"))).toEqual(
		["sends", "receives"].flatMap((what) => names.map((name) => `${name} ${what}`)),
	);
	expect(network.values.get(`${names[0]} sends`)?.at(-1)).toBe(9);
	expect(network.values.get(`${names.at(-1)} receives`)?.at(-1)).toBe(1000);
});

test("of machines that are recorded every few seconds no line has gaps, and a lost sample makes none coarser", () => {
	const every = (n: number) =>
		runOf("clients", ({ series: { hosts } }) => ({
			hosts: hosts.map((host) => ({
				...host,
				points: host.points.filter((_, i) => i % n === n - 1),
			})),
		}));
	expect(panelOf(every(2), "CPU").values.get("bench@10.0.0.13")).toEqual(Array(5).fill(0.23));
	const lost = runOf("clients", ({ series: { hosts } }) => ({
		hosts: hosts.map((host) => ({ ...host, points: host.points.slice(0, -3) })),
	}));
	expect(panelOf(lost, "CPU").values.get("bench@10.0.0.13")).toEqual(Array(8).fill(0.23));
});
