import { setTimeout as sleep } from "node:timers/promises";
import { brokerOf } from "../../runner/brokers/index.ts";
import { failure } from "../../runner/errors.ts";
import type { RigFile, RigFileInput } from "../../runner/scenario/rig-file.ts";
import type { World } from "../../runner/world.ts";
import { unreachable } from "../existing/reach.ts";
import type { Binaries } from "../programs/resolve.ts";
import type { BrokerRequest } from "../rig.ts";
import { entryOf } from "../rig-asked.ts";
import { localRig } from "./local.ts";

/** A rig that was stood up to stay between commands, as long as this process. */
export interface StoodUp {
	/** The content of its rig.json. */
	readonly file: RigFileInput;
	/** Resolves with a sentence when one of its brokers ends by itself. */
	readonly broken: Promise<string>;
	/** Takes all of it down. */
	teardown(): Promise<void>;
}

/** Processes of this machine end with this process, because their agent ends them: they cannot outlive it. */
export async function upLocal(
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
			const broker = await rig.open(request);
			deaths.push(broker.died.then((how) => `${request.system.key}: ${how}`));
			brokers.push(entryOf(request, broker));
		}
	} catch (error) {
		await rig.teardown();
		throw error;
	}
	return {
		file: { version: 1, id, target: "local", brokers },
		broken: Promise.race(deaths),
		teardown: () => rig.teardown(),
	};
}

/** The holder of the rig takes it down when its file is gone (stay-up.ts); here we only wait for that. */
export async function downLocal(rig: RigFile, world: World): Promise<void> {
	const up = async () => {
		const answers = await Promise.all(
			rig.brokers.map(({ url, broker }) =>
				unreachable(url ?? "", brokerOf({ broker }).urls, world.stop),
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
				remedy: "Press Ctrl-C where npx mqbench up runs",
			});
	}
}

// --- internal ---

/** The mqbench that holds a rig notices within this time that it should go, and brokers take a while to end. */
const LEAVES_MS = 60_000;
