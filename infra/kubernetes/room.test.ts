import { expect, test } from "vitest";
import { type NodeRoom, nodesFor, withoutRoom } from "./room.ts";

const GiB = 2 ** 30;
const node = (parts: Partial<NodeRoom> = {}): NodeRoom => ({
	name: "n",
	cpus: 4,
	memory: 8 * GiB,
	usedCpus: 0,
	usedMemory: 0,
	labels: {},
	taints: [],
	cordoned: false,
	...parts,
});
const pods = (count: number, cpus: number | null, memory: number | null) => ({
	count,
	cpus,
	memory,
});

test("pods fit into what the others have left", () => {
	expect(withoutRoom([node()], [pods(2, 2, GiB)])).toBe(0);
	expect(withoutRoom([node()], [pods(3, 2, GiB)])).toBe(1);
	expect(withoutRoom([node({ usedCpus: 1 })], [pods(2, 2, GiB)])).toBe(1);
	expect(withoutRoom([node(), node()], [pods(3, 2, GiB)])).toBe(0);
	expect(withoutRoom([node()], [pods(2, 1, 5 * GiB)])).toBe(1);
});

test("a large pod is placed before small ones take its room", () => {
	expect(withoutRoom([node(), node()], [pods(2, 1, GiB), pods(1, 4, GiB)])).toBe(0);
});

test("a pod that asks for nothing fits everywhere, and none without a node", () => {
	expect(withoutRoom([node({ usedCpus: 4 })], [pods(9, null, null)])).toBe(0);
	expect(withoutRoom([], [pods(1, null, null)])).toBe(1);
});

test("nodes are chosen by selector, taints and whether they take pods", () => {
	const taint = { key: "dedicated", value: "bench", effect: "NoSchedule" };
	const nodes = [
		node({ name: "plain" }),
		node({ name: "bench", labels: { pool: "bench" }, taints: [taint] }),
		node({ name: "cordoned", cordoned: true }),
	];
	const names = (
		nodeSelector: Record<string, string>,
		tolerations: Parameters<typeof nodesFor>[1]["tolerations"],
	) => nodesFor(nodes, { nodeSelector, tolerations }).map(({ name }) => name);
	expect(names({}, [])).toEqual(["plain"]);
	expect(names({}, [{ key: "dedicated", value: "bench" }])).toEqual(["plain", "bench"]);
	expect(names({ pool: "bench" }, [{ operator: "Exists" }])).toEqual(["bench"]);
	expect(names({ pool: "bench" }, [{ key: "dedicated" }])).toEqual([]);
	expect(names({}, [{ key: "dedicated", operator: "Exists", effect: "NoExecute" }])).toEqual([
		"plain",
	]);
});
