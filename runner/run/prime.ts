import { rmSync } from "node:fs";
import path from "node:path";
import type { Broker } from "../../infra/rig.ts";
import type { Plan } from "../model/plan.ts";
import { priming } from "../plan/priming.ts";
import type { System } from "../scenario/scenario.ts";
import { tell } from "../text/tell.ts";
import { formatCount, formatDuration } from "../units.ts";
import type { World } from "../world.ts";
import { startFleet } from "./fleet.ts";
import { fillRun, runPath } from "./folder.ts";
import type { ReadyClient } from "./member.ts";
import type { Progress } from "./progress.ts";

/**
 * Gives a fresh JVM what it compiles by, if the run asks for it. Its settings as reports show them: how it was primed; without priming
 * none. That it could not be done is a note: the warm-up then lasts longer.
 */
export async function prime(
	one: {
		readonly plan: Plan;
		readonly system: System;
		readonly broker: Broker;
		readonly clients: readonly ReadyClient[];
		readonly folder: string;
		readonly progress: Progress;
	},
	world: World,
): Promise<{
	readonly settings: Readonly<Record<string, string>>;
	readonly notes: readonly string[];
}> {
	const plan = priming(one.plan, one.system);
	if (plan === null) return { settings: {}, notes: [] };
	const { broker, clients, progress } = one;
	const folder = path.join(runPath(one.folder, one.plan), "priming");
	const messages = formatCount(plan.schedule.messages);
	const longest = formatDuration(plan.schedule.durationNs);
	progress.say(tell("priming-live", { messages, longest }));
	let came = 0;
	try {
		fillRun(folder, plan);
		const fleet = startFleet(
			{
				clients,
				folder,
				plan,
				url: broker.url,
				k6Outs: [],
				brokerPids: () => [],
				brokerGone: () => broker.gone,
				onProgress(line) {
					if (line.mqbench === "end") came = line.window?.count ?? 0;
					return null;
				},
			},
			world,
		);
		const { error } = await fleet.ended;
		return error === null
			? { settings: { primed: tell("primed", { messages: formatCount(came) }) }, notes: [] }
			: { settings: {}, notes: [tell("not-primed", { reason: error })] };
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}
