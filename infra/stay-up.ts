import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { hasProcess, noBroker } from "../runner/brokers/index.ts";
import { failure, MqbenchError } from "../runner/errors.ts";
import { largestOf } from "../runner/extremes.ts";
import { type Plan, setUpBytes } from "../runner/model/plan.ts";
import { packageVersion } from "../runner/package.ts";
import { type RigPlace, removeRig, rigAt, writeRig } from "../runner/scenario/rig.ts";
import type { RigFileInput } from "../runner/scenario/rig-file.ts";
import type { Scenario } from "../runner/scenario/scenario.ts";
import { maskUrls } from "../runner/secrets.ts";
import { commandLine } from "../runner/shell.ts";
import { tell } from "../runner/text/tell.ts";
import type { World } from "../runner/world.ts";
import { localRig } from "./local/local.ts";
import type { Binaries } from "./programs/resolve.ts";
import type { BrokerRequest } from "./rig.ts";
import { entryOf } from "./rig-asked.ts";
import { temporaryFolder } from "./temporary.ts";

/** The rig to stand up, and the path of its rig.json. */
export interface StayingUp {
	readonly id: string;
	readonly scenario: Scenario;
	readonly plans: readonly Plan[];
	/** The path as the user wrote it. */
	readonly path: string;
	readonly place: RigPlace;
}

/** Stands up brokers of this machine, writes their rig.json, and reports them. Resolves when the user has ended them and none is left. */
export async function stayUp(
	{ id, scenario, plans, path: written, place }: StayingUp,
	say: (line: string) => void,
	world: World,
	binaries: Binaries,
): Promise<void> {
	const rig = await localRig(world, binaries);
	const logs = await temporaryFolder(tmpdir());
	const brokers: RigFileInput["brokers"] = [];
	const deaths: Promise<string>[] = [];
	let wrote = false;
	let named = false;
	let end: string | null = null;
	try {
		const requests = requestsOf(scenario, plans, logs);
		say(`Standing up ${requests.map(({ system }) => system.key).join(", ")} ...`);
		for (const request of requests) {
			const broker = await rig.open(request);
			deaths.push(broker.died.then((how) => `${request.system.key}: ${how}`));
			brokers.push(entryOf(request, broker));
		}
		const createdAt = new Date(world.clock.nowMs()).toISOString();
		const facts = { mqbench: packageVersion };
		await writeRig(place, { version: 1, id, target: "local", brokers, createdAt, facts });
		wrote = true;
		world.stdout.write(upText(brokers, written, place.shown));
		end = await Promise.race([...deaths, isToEnd(place, id, world.stop).then(() => null)]);
	} catch (error) {
		// The sentence about a broker that did not start names its log.
		named = error instanceof MqbenchError && error.code === "broker-start";
		throw error;
	} finally {
		await rig.teardown();
		if (wrote) await removeRig(place, id);
		if (!named) await rm(logs, { recursive: true, force: true });
	}
	if (end !== null) throw failure("rig-broken", { id, how: end });
	say(`The rig ${id} is down.`);
}

// --- internal ---

/** How often to check whether the file still exists. */
const LOOK_MS = 300;

/** The requirements for each system's broker, over all of its runs. */
function requestsOf(scenario: Scenario, plans: readonly Plan[], logs: string): BrokerRequest[] {
	const requests = scenario.systems.flatMap((system): BrokerRequest[] => {
		const own = plans.filter((plan) => plan.system === system.key);
		const [first] = own;
		if (!first || !hasProcess(system.options)) return [];
		return [
			{
				system,
				level: first.durabilityLevel,
				messageBytes: largestOf(own.map(setUpBytes)),
				cpus: first.pin.brokers,
				logPath: path.join(logs, `${system.key}.log`),
			},
		];
	});
	if (requests.length === 0)
		throw failure("usage", {
			message: `${scenario.systems[0]?.broker ?? noBroker} has no server here, so there is nothing to stand up; run the scenario without a rig`,
		});
	return requests;
}

function upText(brokers: RigFileInput["brokers"], scenario: string, shown: string) {
	const lines = brokers.map(
		({ system, url, server }) =>
			`${system}: ${maskUrls(url ?? "")}${server ? ` (${server})` : ""}\n`,
	);
	return `${lines.join("")}${tell("measure-on-rig", { file: shown, scenario })}
They stay up until Ctrl-C here, or npx mqbench down ${commandLine([shown])}
`;
}

/** Resolves when the person stops it, or when its file is gone or belongs to another rig. */
async function isToEnd(place: RigPlace, id: string, stop: AbortSignal): Promise<void> {
	const gone = (at: string | null | undefined) => at !== undefined && at !== id;
	while (!stop.aborted && !gone(await rigAt(place)))
		await sleep(LOOK_MS, undefined, { signal: stop }).catch(() => {});
}
