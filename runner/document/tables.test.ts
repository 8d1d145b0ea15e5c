import { describe, expect, test } from "vitest";
import type { Failover, Result, Run } from "../model/result.ts";
import { fixtureResult } from "../result/stored.fake.ts";
import { topologyText } from "../result/words.ts";
import { type Block, plain } from "./blocks.ts";
import { clients as clientBlocks, failover } from "./tables.ts";
import { networkText } from "./words.ts";

const result = fixtureResult("failover");
const [run] = result.runs as [Run];
const [killed] = run.failover as [Failover];
/** The table among them, and the sentences below it; null: nothing is printed. */
const shown = (blocks: readonly Block[]) => {
	const table = blocks.find((one) => one.kind === "table");
	return table === undefined
		? null
		: {
				head: table.columns.map(({ name }) => plain(name)),
				rows: table.rows.map(({ cells }) => cells.map(plain)),
				notes: blocks.flatMap((one) => (one.kind === "text" ? plain(one.text) : [])),
			};
};
const clientsOf = (of: Run) => shown(clientBlocks(of));
const faultsOfAll = (of: Result) => {
	const [section] = failover(of);
	return section === undefined ? null : shown(section.blocks);
};
const faultsOf = (one: Run) => faultsOfAll({ ...result, runs: [one] });
const row = (fault: Partial<Failover>, of: Partial<Run> = {}) =>
	faultsOf({ ...run, ...of, failover: [{ ...killed, ...fault }] })?.rows[0];

describe("what a fault did", () => {
	const two = { of: "consumers", action: "kill", count: 2, leader: false, node: null } as const;
	const load = { ...run.load, faults: [{ ...two, atNs: 1, forNs: null, delayNs: null }] };

	test.each([
		["was served again", { servedNs: 3e9, again: 4 }, ["after 3s", "4"]],
		["cost nobody anything", { servedNs: 0, again: 0 }, ["at once", "0"]],
		["lost messages", { servedStill: true, again: 1 }, ["not all", "1"]],
		["could not be done", {}, ["n/a", "n/a"]],
	] as const)("to consumers: %s", (_, fault, cells) => {
		const failover = [{ ...killed, ...two, ...fault }];
		const table = faultsOf({ ...run, load, failover });
		expect(table?.head.slice(-2)).toEqual(["served", "again"]);
		expect(table?.head).toContain("without receipts");
		expect(table?.rows[0]?.[0]).toBe("kill of 2 consumers");
		expect(table?.rows[0]?.slice(-2)).toEqual(cells);
		expect(faultsOf(run)?.head).not.toContain("served");
	});

	test.each([
		["nobody noticed", { unavailableNs: 0, unavailableFromNs: null }, 3, "none"],
		["nobody counted", { unavailableNs: null }, 3, "n/a"],
		["never ended", { unavailableStill: true }, 3, "at least 1.36s from 3.99s on"],
		["was never taken back", { endedNs: null }, 2, "to the end"],
		["was at once over", { recoveredNs: 0 }, 4, "at once"],
		["was never over", { recoveredNs: null }, 4, "not before the next fault or the end"],
		["no line is about", { sla: null, recoveredNs: null }, 4, "n/a"],
		[
			"left messages waiting",
			{ drainedNs: null, drainedStill: true },
			5,
			"not before the next fault or the end",
		],
		["nobody counted what waits of", { drainedNs: null }, 5, "n/a"],
		["could not be made", { error: "no" }, 5, "n/a"],
	])("that %s", (_, fault, column, text) => {
		expect(row(fault)?.[column]).toBe(text);
	});

	test("is not known of a run that was stopped", () => {
		expect(row({ drainedNs: null }, { state: "aborted" })?.slice(4)).toEqual(["n/a", "n/a"]);
	});

	test("is told from when the broker was told, and lasted from when it was known to have taken effect", () => {
		const late = { calledNs: 6e9, beganNs: 6.2e9, endedNs: 7.2e9 };
		expect(row(late)?.slice(1, 3)).toEqual(["4s", "1s"]);
	});

	test("is counted by receipts where nothing is acknowledged", () => {
		const plain = { ...run, load: { ...run.load, acks: false } };
		expect(faultsOf(plain)?.head[3]).toBe("without receipts");
	});

	test("says why it was not carried out", () => {
		const table = faultsOf({ ...run, failover: [{ ...killed, error: "node 2 had ended" }] });
		expect(table?.notes).toContain(
			"kill of node 2 (the leader) was not carried out as planned: node 2 had ended",
		);
	});

	test("has what each fault cost", () => {
		expect(faultsOf(run)?.rows[0]).toEqual([
			"kill of node 2 (the leader)",
			"4.004s",
			"3.41s",
			"1.36s from 3.99s on",
			"after 1.4s",
			"after 1.4s",
		]);
	});

	test("is nothing where nothing was done", () => {
		expect(faultsOf({ ...run, failover: [] })).toBeNull();
	});
});

describe("of several runs", () => {
	const of = (count: number): Result => ({
		...result,
		runs: Array.from({ length: count }, (_, i) => ({
			...run,
			index: i + 1,
			repeat: i + 1,
			failed: i,
		})),
	});

	test("faults stand below each other, each with its run", () => {
		expect(faultsOfAll(of(1))?.head[0]).toBe("fault");
		expect(faultsOfAll(of(2))?.rows.map(([name]) => name)).toEqual([
			...Array(2).fill("kafka, 256B 200/s, repeat 1 of 2"),
			...Array(2).fill("kafka, 256B 200/s, repeat 2 of 2"),
		]);
	});

	test("of several limits the column names none", () => {
		const two = of(2);
		const [a, b] = two.runs as [Run, Run];
		const other = { ...b, failover: [{ ...killed, sla: "p99 < 5ms" }] };
		expect(faultsOfAll({ ...two, runs: [a, other] })?.head).toContain("back under the limit");
	});
});

describe("clients", () => {
	const clients = fixtureResult("clients");
	const [several] = clients.runs as [Run];

	test("say what knows their clocks: probes, or chrony on them", () => {
		const cells = (clock: Partial<Run["clients"][number]["clock"]>) =>
			clientsOf({
				...several,
				clients: several.clients.map((c) => ({ ...c, clock: c.clock && { ...c.clock, ...clock } })),
			})?.rows.map((row) => row.at(-1));
		expect(cells({ source: "chrony", boundNs: 73_000, probedNs: 12_400_000 })).toEqual(
			Array(3).fill("\u00b173us by chrony"),
		);
		expect(cells({ boundNs: 175_000 })).toEqual(Array(3).fill("\u00b1175us by probes"));
		expect(cells({ afterNs: null })).toEqual(Array(3).fill("not known"));
	});

	test("that are missing have n/a, never 0, and are named", () => {
		const [first, ...others] = several.clients as [Run["clients"][number], ...Run["clients"]];
		const gone = {
			...first,
			machine: null,
			intended: null,
			sent: null,
			lagP99: null,
			cores: null,
			firstClaimNs: null,
			clock: null,
			error: "client 0 (bench@10.0.0.11): the connection was lost",
		};
		const table = clientsOf({ ...several, clients: [gone, ...others] });
		expect(table?.rows[0]?.slice(1)).toEqual([...Array(5).fill("n/a"), "this machine's"]);
		expect(table?.notes).toContain("client 0 (bench@10.0.0.11): the connection was lost");
	});
});

test.each([
	["3 nodes on 1 host", true, ", which share its cores and disk"],
	["3 containers on 1 host, 2 CPUs each", true, ", which share its cores and disk"],
	["1 node on 1 host", false, ""],
	["3 nodes on 3 hosts", false, ""],
	["3 nodes on 1 host", false, ""],
])("topology %s, sharing it: %s", (topology, nodesShareHost, more) => {
	expect(topologyText({ topology, nodesShareHost })).toBe(topology + more);
});

describe("how far the network is", () => {
	const path = (client: number, node: number, p50Us: number | null) => ({
		client,
		node,
		error: p50Us === null ? "no route to host" : null,
		connects: p50Us === null ? null : 20,
		minNs: p50Us === null ? null : 1_000,
		p50Ns: p50Us === null ? null : p50Us * 1000,
		maxNs: p50Us === null ? null : 9_000_000,
	});
	const text = (...network: Run["network"]) => networkText({ network });

	test("is the median of the only pair, of several the shortest and the longest", () => {
		expect(text()).toBeNull();
		expect(text(path(0, 1, 74))).toBe("74us, medians of TCP connects");
		const all = [0, 1].flatMap((client) =>
			[1, 2, 3].map((node) => path(client, node, 70 + 3 * node - 5 * client)),
		);
		expect(text(...all)).toBe("68us to 79us, medians of TCP connects");
	});

	test("is not known where nobody could connect, never 0", () => {
		expect(text(path(0, 1, null))).toBe("1 of 1 path not known (no route to host)");
		expect(text(path(0, 1, 74), path(0, 2, null))).toBe(
			"74us, medians of TCP connects; 1 of 2 paths not known (no route to host)",
		);
	});
});
