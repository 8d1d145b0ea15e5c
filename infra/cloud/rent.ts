import { existsSync } from "node:fs";
import path from "node:path";
import { brokerOf, imageAt } from "../../runner/brokers/index.ts";
import { type ExitCode, failure } from "../../runner/errors.ts";
import { CLOUD_TITLES, RENTING, targetTraits } from "../../runner/model/targets.ts";
import { packageFolder, packageVersion } from "../../runner/package.ts";
import { rigExpiryWarnings } from "../../runner/plan/warnings.ts";
import type { Scenario } from "../../runner/scenario/scenario.ts";
import { orInterrupted } from "../../runner/stop.ts";
import type { World } from "../../runner/world.ts";
import { toolsOf } from "../local/tools.ts";
import { type BuildProgress, resolveBinaries } from "../programs/resolve.ts";
import { consolesOf } from "./consoles.ts";
import { gatheredIn } from "./gathered.ts";
import type { CloudOptions, CloudRig } from "./lifecycle.ts";
import type { Offer, OfferAsked } from "./provider.ts";
import { providerOf } from "./providers.ts";
import { type CloudRequest, rigId } from "./request.ts";
import { useThenTakeDown } from "./use.ts";

/** The cloud's part of renting (infra/cloud); tests pass a fake. */
export interface CloudSide {
	/**
	 * Builds or fetches what the machines are going to run. So failures show before anything costs money, and no machine waits for a build.
	 */
	prepare(
		request: CloudRequest,
		world: World,
		progress: BuildProgress,
		yes?: boolean,
	): Promise<void>;
	/** Asks the cloud for machines and prices; nothing costs anything yet. */
	offer(scenario: Scenario, asked: OfferAsked, world: World): Promise<Offer>;
	/** Shows an offer and asks whether to accept it; fails if not. */
	confirmOffer(
		offer: Offer,
		asked: {
			readonly yes: boolean;
			readonly maxHourlyUsd: number | null;
			readonly plannedNs: number | null;
		},
		world: World,
	): Promise<void>;
	standUp(
		offer: Offer,
		world: World,
		options: Pick<CloudOptions, "yes" | "say">,
	): Promise<CloudRig>;
}

export interface RentOptions {
	/** `--yes`: do not ask. */
	readonly yes?: boolean | undefined;
	/** `--max-hourly-usd`: do not rent what costs more. */
	readonly maxHourlyUsd?: string | undefined;
}

/** Called with lines about builds and about each step. */
export interface Renting {
	readonly build: BuildProgress;
	say(line: string): void;
}

/** For how long machines are rented. */
export interface Using {
	readonly plannedNs: number | null;
	/** Words for people; null: nobody takes them down. */
	readonly rigFile: string | null;
}

/** The real one; loaded only when something is rented. */
export const theCloud: CloudSide = {
	async prepare({ cloud, scenario, systems }, world, progress, yes = false) {
		const provider = await providerOf(cloud);
		const { brokers, clients } = scenario.aws;
		// Steps of seconds come before steps that may take minutes.
		const wrong = await provider.localTrouble(scenario, world);
		if (wrong.length > 0) throw failure("cloud-unfit", { wrong });
		const binaries = await resolveBinaries(world, {
			extensions: path.join(packageFolder, "extensions"),
			version: packageVersion,
			progress,
			systems,
			yes,
		});
		for (const { system: key, broker } of systems) {
			const system = scenario.systems.find((one) => one.key === key);
			if (system)
				await brokerOf({ broker })
					.process?.prepare?.({ system, tools: toolsOf(world, binaries) })
					?.catch(gatheredIn(wrong));
		}
		if (wrong.length > 0) throw failure("cloud-unfit", { wrong });
		for (const { instance } of [brokers, clients])
			await binaries.on(provider.platformOf(instance), instance);
	},
	async offer(scenario, asked, world) {
		const { rents } = targetTraits(scenario.target);
		if (rents === null) throw new Error(`${scenario.target} rents nothing`);
		const provider = await providerOf(rents);
		return provider.offer(scenario, asked, world);
	},
	async confirmOffer(offer, asked, world) {
		const { confirmOffer } = await import("./confirm.ts");
		return confirmOffer(offer, asked, world);
	},
	async standUp(offer, world, options) {
		const { standUpCloud } = await import("./lifecycle.ts");
		return standUpCloud(offer, world, options);
	},
};

/** Asks for machines and prices of a request, without renting. `plannedNs` as for `rent`. */
export async function offerFor(
	request: CloudRequest,
	world: World,
	cloud: CloudSide,
	plannedNs: number | null = request.plannedNs,
	rigFile: string | null = null,
): Promise<Offer> {
	const { scenario, systems } = request;
	const packages = systems.flatMap(({ system: key, broker }) => {
		const system = scenario.systems.find((one) => one.key === key);
		return system && imageAt("host", system) !== null
			? ENGINE_PACKAGES
			: (brokerOf({ broker }).process?.packages ?? []);
	});
	const id = rigId(scenario.name);
	return cloud.offer(
		scenario,
		{ packages: [...new Set(packages)].sort(), systems, id, plannedNs, rigFile },
		world,
	);
}

/** Shown while AWS is asked, which takes some seconds. */
export function askingText({ cloud, scenario }: CloudRequest): string {
	return `Asking ${CLOUD_TITLES[cloud]} (${scenario.aws.region}) ...`;
}

/** Options that only make sense for rented machines. Fails with `usage` if they are given and nothing is rented. */
export function refuseRentOptions({ maxHourlyUsd }: RentOptions): void {
	if (maxHourlyUsd !== undefined)
		throw failure("usage", {
			message: `--max-hourly-usd is for target ${RENTING}; add --target ${RENTING}, or remove it`,
		});
}

/**
 * Rents: offer, confirmation, machines that are ready. After a failure nothing is left, or the exit code is 5. `plannedNs`: how long they are
 * going to be used; null: until somebody takes them down, with `mqbench down` of `rigFile`.
 */
export async function rent(
	request: CloudRequest,
	{ plannedNs, rigFile }: Using,
	args: RentOptions,
	progress: Renting,
	world: World,
	cloud: CloudSide,
): Promise<CloudRig> {
	// Before anybody is asked anything.
	const maxHourlyUsd = limitOf(args);
	const yes = args.yes ?? false;
	await cloud.prepare(request, world, progress.build, yes);
	progress.say(askingText(request));
	const offer = await offerFor(request, world, cloud, plannedNs, rigFile);
	await cloud.confirmOffer(offer, { yes, maxHourlyUsd, plannedNs }, world);
	orInterrupted(world.stop);
	const say = (line: string) => progress.say(line);
	return cloud.standUp(offer, world, { yes, say });
}

/** Makes the run folders first: machines that wait for a folder that cannot be made cost money. */
export function refuseFolder(
	{ out, resume }: { readonly out?: string | undefined; readonly resume?: string | undefined },
	world: World,
): void {
	if (resume !== undefined)
		throw failure("usage", {
			message: `--resume ${resume}: its runs were made on other machines than those that would be rented now; go on with it on the rig that it began on: --rig rig.json`,
		});
	if (out !== undefined && existsSync(path.resolve(world.cwd, out)))
		throw failure("output-exists", { path: out });
}

/**
 * Rents, uses what is rented, with the path of its rig.json, and takes it down. Consoles of machines that do not come up are stored in
 * `folder`, beside the runs. Fails as `rent` and `useThenTakeDown` do.
 */
export async function rentAndUse(
	request: CloudRequest,
	args: RentOptions,
	progress: Renting,
	world: World,
	cloud: CloudSide,
	folder: string,
	use: (rig: string, world: World) => Promise<ExitCode>,
): Promise<ExitCode> {
	const say = (line: string) => progress.say(line);
	const { plannedNs, onMachinesNs } = request;
	const using = { plannedNs, rigFile: null };
	const rig = await rent(request, using, args, progress, world, cloud);
	return useThenTakeDown(rig, say, world, async () => {
		// The cloud may have taken longer than planned to provide them.
		for (const warning of rigExpiryWarnings(
			rig.file,
			onMachinesNs,
			{
				doing: "setting its machines up and the runs take",
				remedy:
					"runs beyond its end become INVALID; press Ctrl-C to take the machines down now, and use a longer ttl next time",
			},
			world,
		))
			say(`Warning: ${warning}`);
		const consoles = consolesOf(rig, path.resolve(world.cwd, folder), say);
		const watched = { ...world, notUp: consoles.fetch };
		return use(rig.place.path, watched).finally(consoles.keep);
	});
}

// --- internal ---

/** Of Debian, for systems in containers: the engine, and whom it trusts when it pulls. The machines' set-up starts it (aws/user-data/engine.sh). */
const ENGINE_PACKAGES = ["ca-certificates", "docker.io"];

/** USD; null: no limit. */
function limitOf({ maxHourlyUsd }: RentOptions): number | null {
	if (maxHourlyUsd === undefined) return null;
	const limit = Number(maxHourlyUsd);
	if (/^\d+(\.\d+)?$/.test(maxHourlyUsd) && limit > 0) return limit;
	throw failure("usage", {
		message: `--max-hourly-usd ${maxHourlyUsd}: write US dollars an hour, e.g. --max-hourly-usd 5`,
	});
}
