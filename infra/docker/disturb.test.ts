import { describe, expect, test } from "vitest";
import { fakeWorld } from "../../runner/world.fake.ts";
import { containerDisturber } from "./disturb.ts";
import type { DockerNode } from "./node.ts";

/** A node that is killed and comes back after `readyMs`. */
function disturber(parts: {
	stays: boolean;
	stop?: AbortSignal;
	startMs?: number;
	readyMs?: number;
}) {
	const did: string[] = [];
	const node = {
		number: 1,
		async kill() {
			did.push("killed");
		},
		async start() {
			did.push("started");
			return {
				ready: new Promise<void>((ready) =>
					setTimeout(() => {
						did.push("ready");
						ready();
					}, parts.readyMs ?? 1),
				),
				ended: new Promise<string>(() => {}),
			};
		},
	} as unknown as DockerNode;
	const disturb = containerDisturber(
		[node],
		{ note() {}, lastWords: () => "" } as never,
		{
			...({ docker: null, engine: null, network: null } as never as object),
			world: fakeWorld(parts.stop ? { stop: parts.stop } : {}),
			stays: parts.stays,
			startMs: parts.startMs ?? 5_000,
			stopMs: 1_000,
			healthy: async () => {},
		} as never,
	);
	return {
		did,
		kill: () => disturb({ action: "kill", node: 1, delayNs: null }),
	};
}

describe("a node that was killed when Ctrl-C came", () => {
	test("comes back where its broker stays up: the next run needs it", async () => {
		const stop = new AbortController();
		const { did, kill } = disturber({ stays: true, stop: stop.signal });
		const back = await kill();
		stop.abort("SIGINT");
		await back();
		expect(did).toEqual(["killed", "started", "ready"]);
	});

	test("also when it comes while the node is on its way", async () => {
		const stop = new AbortController();
		const { did, kill } = disturber({
			...{ stays: true, stop: stop.signal, readyMs: 50 },
		});
		const coming = (await kill())();
		stop.abort("SIGINT");
		await coming;
		expect(did.at(-1)).toBe("ready");
	});

	test("has its time for that, and no more", async () => {
		const { kill } = disturber({ stays: true, startMs: 5, readyMs: 2_000 });
		await expect((await kill())()).rejects.toThrow(
			"node 1 was started again and did not become ready in time",
		);
	});

	test("stays away where its broker goes with the run", async () => {
		const stop = new AbortController();
		const { did, kill } = disturber({ stays: false, stop: stop.signal });
		const back = await kill();
		stop.abort("SIGINT");
		await expect(back()).rejects.toThrow("the run is over");
		expect(did).toEqual(["killed"]);
	});
});
