import type { PodsAsked } from "./job.ts";

/** A node of a cluster, as far as room goes: what pods may have in all, and what they have asked for. */
export interface NodeRoom {
	readonly name: string;
	readonly cpus: number;
	/** Bytes. */
	readonly memory: number;
	readonly usedCpus: number;
	readonly usedMemory: number;
	/** Its labels, and the taints that keep pods away. */
	readonly labels: Readonly<Record<string, string>>;
	readonly taints: readonly {
		readonly key: string;
		readonly value?: string | undefined;
		readonly effect: string;
	}[];
	/** It takes no more pods. */
	readonly cordoned: boolean;
}

/** Where pods may go: the scenario's selector and tolerations. */
export interface Placement {
	readonly nodeSelector: Readonly<Record<string, string>>;
	readonly tolerations: readonly {
		readonly key?: string | undefined;
		readonly operator?: string | undefined;
		readonly value?: string | undefined;
		readonly effect?: string | undefined;
	}[];
}

/** Nodes that take pods of the scenario at all. */
export function nodesFor(
	nodes: readonly NodeRoom[],
	{ nodeSelector, tolerations }: Placement,
): NodeRoom[] {
	return nodes.filter(
		({ labels, taints, cordoned }) =>
			!cordoned &&
			Object.entries(nodeSelector).every(([key, value]) => labels[key] === value) &&
			taints
				.filter(({ effect }) => effect !== "PreferNoSchedule")
				.every((taint) =>
					tolerations.some(
						(one) =>
							(one.key === undefined || one.key === taint.key) &&
							(one.operator === "Exists" || (one.value ?? "") === (taint.value ?? "")) &&
							(one.effect === undefined || one.effect === taint.effect),
					),
				),
	);
}

/**
 * How many of the pods find no room when the largest are placed first, each where most is free. An estimate: the scheduler knows more (volumes,
 * ports, affinities).
 */
export function withoutRoom(
	nodes: readonly NodeRoom[],
	asked: readonly Pick<PodsAsked, "count" | "cpus" | "memory">[],
): number {
	const free = nodes.map((node) => ({
		cpus: node.cpus - node.usedCpus,
		memory: node.memory - node.usedMemory,
	}));
	const pods = asked
		.flatMap(({ count, cpus, memory }) =>
			Array.from({ length: count }, () => ({ cpus: cpus ?? 0, memory: memory ?? 0 })),
		)
		.sort((a, b) => b.cpus - a.cpus || b.memory - a.memory);
	let left = 0;
	for (const pod of pods) {
		const [node] = free
			.filter(({ cpus, memory }) => cpus >= pod.cpus && memory >= pod.memory)
			.sort((a, b) => b.cpus - a.cpus);
		if (node === undefined) left++;
		else {
			node.cpus -= pod.cpus;
			node.memory -= pod.memory;
		}
	}
	return left;
}
