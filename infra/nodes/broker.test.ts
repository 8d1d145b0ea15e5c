import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { fakeWorld } from "../../runner/world.fake.ts";
import { testFolder } from "../test-folder.fake.ts";
import { openBroker } from "./broker.ts";
import { fakePlace } from "./place.fake.ts";
import type { NodeProcess } from "./place.ts";

async function open({
	nodes = 1,
	stop = new AbortController(),
	started = [],
	...about
}: {
	nodes?: number;
	stop?: AbortController;
	started?: NodeProcess[];
	sameHost?: boolean;
}) {
	const broker = await openBroker({
		facts: {
			nodes: Array(nodes).fill({ argv: [], before: [], files: {} }),
			ready: (line) => line === "ready",
			url: () => "",
			version: () => "",
			startMs: 5_000,
		},
		places: Array.from({ length: nodes }, () => fakePlace(() => true, started)),
		request: {
			system: { key: "a", options: {} },
			logPath: path.join(testFolder(), "broker.log"),
		} as never,
		world: fakeWorld({ stop: stop.signal }),
		about: { binary: "", sameHost: true, topology: "", settings: {}, ...about },
		async remove() {},
	});
	onTestFinished(() => broker.close());
	return broker;
}

test.each([
	[1, true, false],
	[3, true, true],
	[3, false, false],
])("%d nodes, on this machine: %s, share a host: %s", async (nodes, sameHost, shared) => {
	const { nodesShareHost } = await open({ nodes, sameHost });
	expect(nodesShareHost).toBe(shared);
});

test("is gone when the last of its nodes has ended by itself, not when mqbench has killed them", async () => {
	const started: NodeProcess[] = [];
	const broker = await open({ nodes: 2, started });
	const [first, second] = started as [NodeProcess, NodeProcess];
	await first.end();
	await first.ended;
	expect(broker.gone).toBe(false);
	await second.end();
	await expect.poll(() => broker.gone).toBe(true);
	const other = await open({});
	const back = await other.disturb({ action: "kill", node: 1, delayNs: null });
	expect(other.gone).toBe(false);
	await back();
	expect(other.gone).toBe(false);
});

test("a node on its way back when Ctrl-C comes is not waited for", async () => {
	const stop = new AbortController();
	const broker = await open({ stop });
	const back = await broker.disturb({ action: "kill", node: 1, delayNs: null });
	const coming = back();
	stop.abort("SIGINT");
	await expect(coming).rejects.toThrow("the run is over");
});
