import { setTimeout as sleep } from "node:timers/promises";
import { brokerOf } from "../runner/brokers/index.ts";
import { failure } from "../runner/errors.ts";
import type { RigFile, RigFileInput } from "../runner/scenario/rig-file.ts";
import type { World } from "../runner/world.ts";
import type { Binaries } from "./binaries/resolve.ts";
import { downDocker, upDocker } from "./docker/rig.ts";
import { unreachable } from "./existing/reach.ts";
import { localRig } from "./local/local.ts";
import type { BrokerRequest } from "./rig.ts";
import { askedOf } from "./rig-asked.ts";

/** A rig that has been stood up, to stay between commands. */
export interface StoodUp {
	/** What its rig.json says. */
	readonly file: RigFileInput;
	/**
	 * It lives as long as this process: resolves with a sentence when a broker of it ends by itself. null: it stays by itself until it
	 * is taken down.
	 */
	readonly broken: Promise<string> | null;
	/** Its file is written, and people know of it: from now on it stays when this process is gone, if it can. Until then it goes with it. */
	keep(): Promise<void>;
	/** Takes all of it down again. */
	teardown(): Promise<void>;
}

/** Targets whose brokers mqbench can stand up for longer than a run. */
export type Standing = Exclude<RigFile["target"], "existing" | "aws">;

/** Stands up one broker for each request, all at once. Fails as a whole: nothing of it is left then. */
export function standUp(
	target: Standing,
	id: string,
	requests: readonly BrokerRequest[],
	world: World,
	binaries: Binaries,
): Promise<StoodUp> {
	return ups[target](id, requests, world, binaries);
}

/** Takes a rig down: after it nothing of it is left. That it was down already is no mistake. */
export async function takeDown(rig: RigFile, world: World): Promise<void> {
	if (rig.target === "existing" || rig.target === "aws")
		throw new Error("a rig that was there before is not taken down");
	await downs[rig.target](rig, world);
}

// --- internal ---

/** The mqbench that holds a rig sees within this time that it is to go, and brokers take a while to end. */
const LEAVES_MS = 60_000;

const ups: Readonly<
	Record<
		Standing,
		(
			id: string,
			requests: readonly BrokerRequest[],
			world: World,
			binaries: Binaries,
		) => Promise<StoodUp>
	>
> = {
	local: upLocal,
	// Containers go on without whoever has made them.
	docker: async (id, requests, world, binaries) => {
		const { brokers, keep } = await upDocker(requests, id, world, binaries);
		return {
			file: { version: 1, id, target: "docker", brokers },
			broken: null,
			keep,
			async teardown() {
				await downDocker(id, world);
				await keep();
			},
		};
	},
};

const downs: Readonly<
	Record<Standing, (rig: RigFile, world: World) => Promise<void>>
> = {
	local: downLocal,
	docker: ({ id }, world) => downDocker(id, world),
};

/** Processes of this machine hang on a guard that ends them with this process: they cannot outlive it. */
async function upLocal(
	id: string,
	requests: readonly BrokerRequest[],
	world: World,
	binaries: Binaries,
): Promise<StoodUp> {
	const rig = await localRig(world, binaries);
	const brokers: RigFileInput["brokers"] = [];
	const deaths: Promise<string>[] = [];
	try {
		for (const request of requests) {
			const { system, level, messageBytes } = request;
			const broker = await rig.open(request);
			deaths.push(broker.died.then((how) => `${system.key}: ${how}`));
			const { url, version, settings, topology } = broker;
			brokers.push({
				system: system.key,
				broker: system.broker as RigFile["brokers"][number]["broker"],
				url,
				server: version,
				level,
				messageBytes,
				settings: { ...settings },
				topology,
				sameHost: true,
				asked: askedOf(request),
			});
		}
	} catch (error) {
		await rig.teardown();
		throw error;
	}
	return {
		file: { version: 1, id, target: "local", brokers },
		broken: Promise.race(deaths),
		async keep() {},
		teardown: () => rig.teardown(),
	};
}

/** Whoever holds the rig takes it down when its file is gone (stay-up.ts); here is only waited for that. */
async function downLocal(rig: RigFile, world: World): Promise<void> {
	const up = async () => {
		const answers = await Promise.all(
			rig.brokers.map(({ url, broker }) =>
				unreachable(url ?? "", brokerOf({ broker }).defaultPort, world.stop),
			),
		);
		return rig.brokers.filter((_, i) => answers[i] === null);
	};
	const end = world.clock.monotonicMs() + LEAVES_MS;
	for (;;) {
		const left = await up();
		if (left.length === 0) return;
		await sleep(250);
		if (world.clock.monotonicMs() > end)
			throw failure("rig-left", {
				id: rig.id,
				what: `${left.map(({ system }) => system).join(", ")} still ${left.length === 1 ? "answers" : "answer"} after ${LEAVES_MS / 1000}s`,
				remedy: "Press Ctrl-C where mqbench up runs",
			});
	}
}
