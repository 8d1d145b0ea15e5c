import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { fakeWorld } from "../../runner/world.fake.ts";
import { testFolder } from "../test-folder.fake.ts";
import { openBroker } from "./broker.ts";
import type { NodeProcess, Place, TakeLine } from "./place.ts";

/** A node that is ready at once, and the next time after 50 ms. */
function place(): Place {
	let readyMs = 0;
	return {
		...{ host: null, signals: true },
		async prepare() {},
		async close() {},
		async start(_: unknown, take: TakeLine): Promise<NodeProcess> {
			let tellEnd = () => {};
			const ended = new Promise<void>((resolve) => {
				tellEnd = resolve;
			}).then(() => ({ how: "SIGKILL", well: false, lost: false }));
			setTimeout(() => take("ready"), readyMs);
			readyMs = 50;
			return {
				ended,
				pid: async () => null,
				async signal() {
					tellEnd();
					return 1;
				},
				async end() {
					tellEnd();
				},
			};
		},
	};
}

async function open({
	nodes = 1,
	stop = new AbortController(),
	...about
}: {
	nodes?: number;
	stop?: AbortController;
	stays?: boolean;
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
		places: Array.from({ length: nodes }, place),
		request: {
			system: { key: "a", options: {} },
			logPath: path.join(testFolder(), "broker.log"),
		} as never,
		world: fakeWorld({ stop: stop.signal }),
		about: {
			...{ binary: "", sameHost: true, topology: "", settings: {} },
			...about,
		},
		async remove() {},
	});
	onTestFinished(() => broker.close());
	return broker;
}

test.each([
	[1, true, false],
	[3, true, true],
	[3, false, false],
])(
	"%d nodes, on this machine: %s, share a host: %s",
	async (nodes, sameHost, shared) => {
		const { nodesShareHost } = await open({ nodes, sameHost });
		expect(nodesShareHost).toBe(shared);
	},
);

/** A broker whose node is killed; Ctrl-C comes while it is on its way back. */
async function killed(stays: boolean): Promise<void> {
	const stop = new AbortController();
	const broker = await open({ stop, stays });
	const back = await broker.disturb({ action: "kill", node: 1, delayNs: null });
	const coming = back();
	stop.abort("SIGINT");
	await coming;
}

test("a node on its way back when Ctrl-C comes arrives where its broker stays up", async () => {
	await killed(true);
});

test("a node on its way back when Ctrl-C comes is not waited for where its broker goes with the run", async () => {
	await expect(killed(false)).rejects.toThrow("the run is over");
});
