import { describe, expect, test } from "vitest";
import { disturber } from "./disturb.ts";
import { BrokerNode } from "./node.ts";
import { fakePlace } from "./place.fake.ts";

/** Nodes that come up soon; what is done to them is noted. */
async function broker(parts: {
	count?: number;
	stop?: AbortSignal | null;
	startMs?: number;
	healthy?: () => Promise<boolean>;
	/** Of this node nothing can be stopped. */
	stubborn?: number;
}) {
	const did: string[] = [];
	const nodes = Array.from({ length: parts.count ?? 1 }, (_, i) => {
		const number = i + 1;
		return new BrokerNode({
			number,
			place: fakePlace((name) => {
				if (parts.stubborn === number) return false;
				did.push(`${name} ${number}`);
				return true;
			}),
			command: { argv: [], before: [], files: {} },
			hear: () => {},
			ready: (line) => line === "ready",
		});
	});
	for (const node of nodes) await (await node.start()).ready;
	const disturb = disturber(nodes, {
		log: { note: (what: string) => did.push(what), lastWords: () => "" } as never,
		health: parts.healthy ? { healthy: parts.healthy } : {},
		startMs: parts.startMs ?? 5_000,
		stop: parts.stop ?? new AbortController().signal,
	});
	return {
		did,
		act: (action: "kill" | "pause" | "restart", node: number | null = 1) =>
			disturb({ action, node, delayNs: null }),
	};
}

describe("a node that was down is back", () => {
	test.each(["kill", "restart"] as const)(
		"when the broker is healthy again, and not before (%s)",
		async (action) => {
			let leader = false;
			let asked = 0;
			const { did, act } = await broker({
				async healthy() {
					asked++;
					if (!leader) throw new Error("no leader yet");
					return true;
				},
			});
			const back = await act(action);
			let isBack = false;
			const coming = back().then(() => {
				isBack = true;
			});
			await expect.poll(() => asked).toBeGreaterThan(1);
			expect(isBack).toBe(false);
			expect(did).not.toContain("node 1 is ready again");
			leader = true;
			await coming;
			expect(did.at(-1)).toBe("node 1 is ready again");
		},
	);

	test("never, where the broker does not become healthy in time", async () => {
		const { act } = await broker({ startMs: 300, healthy: async () => false });
		await expect((await act("kill"))()).rejects.toThrow(
			"node 1 was started again and did not become ready in time",
		);
	});
});

test("half of a fault is none: where one node cannot be paused the others go on", async () => {
	const { did, act } = await broker({ count: 3, stubborn: 2 });
	await expect(act("pause", null)).rejects.toThrow(
		"the processes of node 2 cannot be found in /proc",
	);
	expect(did.filter((what) => /^[A-Z]+ /.test(what)).sort()).toEqual([
		"CONT 1",
		"CONT 3",
		"STOP 1",
		"STOP 3",
	]);
});
