import { setTimeout as sleep } from "node:timers/promises";
import { brokerOf } from "../../runner/brokers/index.ts";
import { failure } from "../../runner/errors.ts";
import type { RigFile } from "../../runner/scenario/rig-file.ts";
import type { World } from "../../runner/world.ts";
import { unreachable } from "../existing/reach.ts";

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
