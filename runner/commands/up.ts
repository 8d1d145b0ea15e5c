import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { resolveBinaries } from "../../infra/binaries/resolve.ts";
import type { BrokerRequest } from "../../infra/rig.ts";
import { type StoodUp, standUp } from "../../infra/standing-up.ts";
import { temporaryFolder } from "../../infra/temporary.ts";
import { EXIT, type ExitCode, failure, MqbenchError } from "../errors.ts";
import { packageFolder, packageVersion } from "../package.ts";
import { expand } from "../plan/expand.ts";
import { makeProgress, type Progress } from "../run/progress.ts";
import type { Overrides } from "../scenario/overrides.ts";
import { readScenario } from "../scenario/read.ts";
import type { RigFile } from "../scenario/rig-file.ts";
import {
	type RigPlace,
	removeRig,
	rigAt,
	writeRig,
} from "../scenario/rig-store.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { maskUrls } from "../secrets.ts";
import { formatDuration } from "../units.ts";
import type { World } from "../world.ts";
import { type Rental, rentalOf, rigId } from "./rental.ts";
import {
	type CloudSide,
	onRented,
	type RentArgs,
	refuseRentArgs,
	rent,
	theCloud,
} from "./rented.ts";
import { endOf } from "./rig-end.ts";

export interface UpArgs
	extends Pick<Overrides, "set" | "target" | "clients">,
		RentArgs {
	/** Path of the scenario file. */
	readonly path: string;
	/** `--only`: a glob over "system/case": brokers of those systems alone. */
	readonly only?: string | undefined;
	/** `--out`: the file that says where the brokers are. Default: rig.json. */
	readonly out?: string | undefined;
}

/**
 * `mqbench up`: stands up the brokers of a scenario, to stay while runs come and go, and writes rig.json. Containers stay by
 * themselves; processes of this machine as long as this command, which ends with Ctrl-C or when the file is gone (`mqbench down`);
 * machines of target aws until they are taken down, or end themselves.
 */
export async function up(
	args: UpArgs,
	world: World,
	cloud: CloudSide = theCloud,
): Promise<ExitCode> {
	const { scenario } = await readScenario(args.path, args, world);
	const { target } = scenario;
	if (target === "existing")
		throw failure("usage", {
			message: `${args.path}: brokers of target existing are up already; measure on them: mqbench ${args.path}, or have mqbench stand others up: --target docker`,
		});
	const shown = args.out ?? "rig.json";
	const place = { shown, path: path.resolve(world.cwd, shown) };
	if (existsSync(place.path)) throw failure("rig-exists", { path: shown });
	const progress = makeProgress(world, false);
	const rental = rentalOf(scenario, args);
	if (rental === null) refuseRentArgs(args);
	if (rental !== null)
		return upCloud(rental, args, place, progress, { world, cloud });
	if (target === "aws") throw new Error("target aws without machines");
	const binaries = await resolveBinaries(world, {
		extensions: path.join(packageFolder, "extensions"),
		version: packageVersion,
		progress: progress.build,
	});
	const id = rigId(scenario.name);
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

/** Machines stay by themselves: this command ends when they are ready. */
async function upCloud(
	rental: Rental,
	args: UpArgs,
	place: RigPlace,
	progress: Progress,
	{ world, cloud }: { readonly world: World; readonly cloud: CloudSide },
): Promise<ExitCode> {
	const say = (line: string) => progress.say(line);
	const using = { plannedNs: null, rigFile: place.shown };
	const rig = await rent(rental, using, args, progress, world, cloud);
	const { file } = rig;
	try {
		if (world.stop.aborted)
			throw failure("interrupted", { signal: String(world.stop.reason) });
		await writeRig(place, from(path.dirname(rig.place.path), file));
	} catch (error) {
		return onRented(rig, say, world, () => Promise.reject(error));
	}
	await rig.keep();
	world.stdout.write(toldOfCloud(file, args.path, place.shown, world));
	return EXIT.pass;
}

/** The same rig for a file in another folder, from which its paths would count otherwise. */
function from(folder: string, rig: RigFile): RigFile {
	const there = <Host extends RigFile["clients"][number]>(
		host: Host,
	): Host => ({
		...host,
		...(host.identity === undefined
			? {}
			: { identity: path.resolve(folder, host.identity) }),
		...(host.knownHosts === undefined
			? {}
			: { knownHosts: path.resolve(folder, host.knownHosts) }),
	});
	return {
		...rig,
		clients: rig.clients.map(there),
		brokers: rig.brokers.map((broker) => ({
			...broker,
			hosts: broker.hosts.map(there),
		})),
	};
}

function toldOfCloud(
	rig: RigFile,
	scenario: string,
	shown: string,
	{ clock }: Pick<World, "clock">,
): string {
	const { id, cloud } = rig;
	const machines = Object.entries(cloud?.machines ?? {})
		.map(([type, count]) => `${count} x ${type}`)
		.join(", ");
	const usd = cloud?.hourlyUsd ?? null;
	const cost =
		usd === null ? "what they cost is not known" : `$${usd.toFixed(2)} an hour`;
	const endsAt = endOf(rig);
	const end =
		endsAt === null
			? "When they end by themselves is not known"
			: `They end themselves in ${formatDuration(Math.max(0, Date.parse(endsAt) - clock.nowMs()) * 1e6)} (${endsAt})`;
	return `${machines} are up in ${cloud?.region ?? "AWS"} (${cost}). ${end}.
${shown} says where they are, to its owner alone. Measure on them:
  mqbench ${scenario} --rig ${shown}
They cost money until: mqbench down ${shown}, or mqbench rigs destroy ${id}
`;
}

/** How often is looked whether the file is still there. */
const LOOK_MS = 300;

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
