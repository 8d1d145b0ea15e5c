import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { resolveBinaries } from "../../infra/binaries/resolve.ts";
import type { BrokerRequest } from "../../infra/rig.ts";
import {
	type RigPlace,
	removeRig,
	rigAt,
	writeRig,
} from "../../infra/rig-store.ts";
import { type StoodUp, standUp } from "../../infra/standing-up.ts";
import { temporaryFolder } from "../../infra/temporary.ts";
import { EXIT, type ExitCode, failure, MqbenchError } from "../errors.ts";
import { packageFolder, packageVersion } from "../package.ts";
import { expand } from "../plan/expand.ts";
import { makeProgress } from "../run/progress.ts";
import type { Overrides } from "../scenario/overrides.ts";
import { readScenario } from "../scenario/read.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { maskUrls } from "../secrets.ts";
import type { World } from "../world.ts";

export interface UpArgs extends Pick<Overrides, "set" | "target"> {
	/** Path of the scenario file. */
	readonly path: string;
	/** `--only`: a glob over "system/case": brokers of those systems alone. */
	readonly only?: string | undefined;
	/** `--out`: the file that says where the brokers are. Default: rig.json. */
	readonly out?: string | undefined;
}

/**
 * `mqbench up`: stands up the brokers of a scenario, to stay while runs come and go, and writes rig.json. Containers stay by
 * themselves; processes of this machine as long as this command, which ends with Ctrl-C or when the file is gone (`mqbench down`).
 */
export async function up(args: UpArgs, world: World): Promise<ExitCode> {
	const { scenario } = await readScenario(args.path, args, world);
	const { target } = scenario;
	if (target === "existing" || target === "aws")
		throw failure("usage", {
			message: `${args.path}: brokers of target existing are up already; measure on them: mqbench ${args.path}, or have mqbench stand others up: --target docker`,
		});
	const shown = args.out ?? "rig.json";
	const place = { shown, path: path.resolve(world.cwd, shown) };
	if (existsSync(place.path)) throw failure("rig-exists", { path: shown });
	const progress = makeProgress(world, false);
	const binaries = await resolveBinaries(world, {
		extensions: path.join(packageFolder, "extensions"),
		version: packageVersion,
		progress: progress.build,
	});
	const id = idOf(scenario.name);
	const logs = await temporaryFolder(tmpdir());
	const requests = requestsOf(scenario, args.only, logs);
	progress.say(
		`Standing up ${requests.map(({ system }) => system.key).join(", ")} ...`,
	);
	let stood: StoodUp;
	try {
		stood = await standUp(target, id, requests, world, binaries);
	} catch (error) {
		// The sentence about a broker that did not start names its log.
		if (!(error instanceof MqbenchError && error.code === "broker-start"))
			await rm(logs, { recursive: true, force: true });
		throw error;
	}
	let wrote = false;
	let stays = false;
	let end: string | null = null;
	try {
		await writeRig(place, {
			...stood.file,
			createdAt: new Date(world.clock.nowMs()).toISOString(),
			facts: { mqbench: packageVersion, ...stood.file.facts },
		});
		wrote = true;
		await stood.keep();
		stays = stood.broken === null;
		world.stdout.write(told(stood, args.path, shown));
		if (stood.broken !== null)
			end = await Promise.race([
				stood.broken,
				toldToEnd(place, id, world.stop).then(() => null),
			]);
	} finally {
		if (!stays) {
			await stood.teardown();
			if (wrote) await removeRig(place, id);
		}
		await rm(logs, { recursive: true, force: true });
	}
	if (end !== null) throw failure("rig-broken", { id, how: end });
	if (!stays) progress.say(`The rig ${id} is down.`);
	return EXIT.pass;
}

// --- internal ---

/** How often is looked whether the file is still there. */
const LOOK_MS = 300;

/** Part of names of containers: short, and unlike any other. */
function idOf(scenario: string): string {
	return `${scenario.slice(0, 40)}-${randomBytes(3).toString("hex")}`;
}

/** What each system's broker has to be good for: all of its runs. */
function requestsOf(
	scenario: Scenario,
	only: string | undefined,
	logs: string,
): BrokerRequest[] {
	const plans = expand(scenario, { runId: "up", only });
	const requests = scenario.systems.flatMap((system): BrokerRequest[] => {
		const own = plans.filter((plan) => plan.system === system.key);
		const [first] = own;
		if (!first || system.broker === "noop") return [];
		return [
			{
				system,
				level: first.durabilityLevel,
				messageBytes: Math.max(...own.map(({ message }) => message.bytes)),
				cpus: first.pin.brokers,
				logPath: path.join(logs, `${system.key}.log`),
			},
		];
	});
	if (requests.length === 0)
		throw failure("usage", {
			message: "noop is no broker: there is nothing to stand up",
		});
	return requests;
}

function told({ file, broken }: StoodUp, scenario: string, shown: string) {
	const brokers = file.brokers.map(
		({ system, url, server }) =>
			`${system}: ${maskUrls(url ?? "")}${server ? ` (${server})` : ""}\n`,
	);
	return `${brokers.join("")}${shown} says where they are, to its owner alone. Measure on them:
  mqbench ${scenario} --rig ${shown}
${broken === null ? `They stay up until: mqbench down ${shown}` : `They stay up until Ctrl-C here, or mqbench down ${shown}`}
`;
}

/** Resolves when the person stops it, or its file is gone, or another rig's. */
async function toldToEnd(
	place: RigPlace,
	id: string,
	stop: AbortSignal,
): Promise<void> {
	const gone = (at: string | null | undefined) => at !== undefined && at !== id;
	while (!stop.aborted && !gone(await rigAt(place)))
		await sleep(LOOK_MS, undefined, { signal: stop }).catch(() => {});
}
