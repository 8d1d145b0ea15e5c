import path from "node:path";
import { resolveBinaries } from "../../infra/binaries/resolve.ts";
import type { CloudOptions, CloudRig } from "../../infra/cloud/lifecycle.ts";
import type { Offer } from "../../infra/cloud/offer.ts";
import { type ExitCode, failure, MqbenchError } from "../errors.ts";
import { packageFolder, packageVersion } from "../package.ts";
import type { Progress } from "../run/progress.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { maskUrls } from "../secrets.ts";
import type { World } from "../world.ts";
import { type Rental, rigId } from "./rental.ts";

/** The cloud's side of renting (infra/cloud); tests pass a fake. */
export interface CloudSide {
	/** Debian packages that a kind of broker runs on. */
	packages(
		broker: Rental["systems"][number]["broker"],
	): Promise<readonly string[]>;
	/**
	 * Gets what the machines are to run, as far as this machine has to build or fetch it: what cannot be had is told before anything costs
	 * money, and nothing is built while machines wait.
	 */
	prepare(
		rental: Rental,
		world: World,
		progress: Progress["build"],
	): Promise<void>;
	/** Asks AWS what there is and what it costs; nothing costs anything yet. */
	offer(
		scenario: Scenario,
		asked: {
			readonly packages: readonly string[];
			readonly systems: Rental["systems"];
			readonly id: string;
			readonly plannedNs: number | null;
			readonly rigFile: string | null;
		},
		world: World,
	): Promise<Offer>;
	/** Shows an offer, and asks whether it is taken; fails where it is not. */
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

export interface RentArgs {
	/** `--yes`: nobody is asked. */
	readonly yes?: boolean | undefined;
	/** `--max-hourly-usd`: what costs more is not rented. */
	readonly maxHourlyUsd?: string | undefined;
}

/** For how long machines are rented. */
export interface Using {
	readonly plannedNs: number | null;
	/** As a person names it; null: nobody is to take them down. */
	readonly rigFile: string | null;
}

/** The real one; loaded when something is rented. */
export const theCloud: CloudSide = {
	async packages(broker) {
		const { hostBrokers } = await import("../../infra/brokers/index.ts");
		return hostBrokers[broker]?.packages ?? [];
	},
	async prepare({ scenario, systems }, world, progress) {
		const { localTrouble } = await import("../../infra/cloud/offer.ts");
		const { findPulumi } = await import("../../infra/cloud/pulumi-cli.ts");
		const { hostBrokers } = await import("../../infra/brokers/index.ts");
		const { brokers, clients } = scenario.aws;
		// What takes seconds comes before what may take minutes.
		const wrong = localTrouble(scenario.aws, world);
		await findPulumi(world).catch(gatheredIn(wrong));
		if (wrong.length > 0) throw failure("aws-unfit", { wrong });
		const binaries = await resolveBinaries(world, {
			extensions: path.join(packageFolder, "extensions"),
			version: packageVersion,
			progress,
		});
		for (const { system: key, broker } of systems) {
			const system = scenario.systems.find((one) => one.key === key);
			if (system)
				await hostBrokers[broker]
					?.prepare?.({ system, world, binaries })
					?.catch(gatheredIn(wrong));
		}
		if (wrong.length > 0) throw failure("aws-unfit", { wrong });
		for (const { instance } of [brokers, clients])
			await binaries.on(platformOf(instance), instance);
	},
	async offer(scenario, asked, world) {
		const { offer } = await import("../../infra/cloud/offer.ts");
		return offer(scenario, asked, world);
	},
	async confirmOffer(offer, asked, world) {
		const { confirmOffer } = await import("../../infra/cloud/confirm.ts");
		return confirmOffer(offer, asked, world);
	},
	async standUp(offer, world, options) {
		const { standUpCloud } = await import("../../infra/cloud/lifecycle.ts");
		return standUpCloud(offer, world, options);
	},
};

/** System and processor of an instance type, by its name: "c7gn.xlarge" has a processor of AWS's own, behind the number the letter g. */
export function platformOf(instance: string): string {
	return /^(a1|[a-z]+\d+[a-z]*g[a-z]*)[.-]/.test(instance)
		? "linux/arm64"
		: "linux/amd64";
}

/** Asks what the machines of a rental are and cost, without taking them. `plannedNs` as for `rent`. */
export async function offerFor(
	rental: Rental,
	world: World,
	cloud: CloudSide,
	plannedNs: number | null = rental.plannedNs,
	rigFile: string | null = null,
): Promise<Offer> {
	const { scenario, systems } = rental;
	const packages = await Promise.all(
		[...new Set(systems.map(({ broker }) => broker))].map((broker) =>
			cloud.packages(broker),
		),
	);
	const id = rigId(scenario.name);
	return cloud.offer(
		scenario,
		{
			packages: [...new Set(packages.flat())].sort(),
			systems,
			id,
			plannedNs,
			rigFile,
		},
		world,
	);
}

/** What is said while AWS is asked, which takes some seconds. */
export function askingText({ scenario }: Rental): string {
	return `Asking AWS (${scenario.aws.region}) ...`;
}

/** Options that only machines for rent have. Fails with `usage` where they are given and nothing is rented. */
export function refuseRentArgs({ yes, maxHourlyUsd }: RentArgs): void {
	const given = [
		...(yes ? ["--yes"] : []),
		...(maxHourlyUsd === undefined ? [] : ["--max-hourly-usd"]),
	];
	if (given.length > 0)
		throw failure("usage", {
			message: `${given.join(" and ")} ${given.length === 1 ? "is" : "are"} for target aws; add --target aws, or leave ${given.length === 1 ? "it" : "them"} away`,
		});
}

/**
 * Rents: offer, confirmation, machines that are ready. Fails with nothing left, or with exit code 5. `plannedNs`: how long they are going
 * to be used; null: until somebody takes them down, with `mqbench down` of `rigFile`.
 */
export async function rent(
	rental: Rental,
	{ plannedNs, rigFile }: Using,
	args: RentArgs,
	progress: Pick<Progress, "build" | "say">,
	world: World,
	cloud: CloudSide,
): Promise<CloudRig> {
	// Before anything is asked of anybody.
	const maxHourlyUsd = limitOf(args);
	const yes = args.yes ?? false;
	await cloud.prepare(rental, world, progress.build);
	progress.say(askingText(rental));
	const offer = await offerFor(rental, world, cloud, plannedNs, rigFile);
	await cloud.confirmOffer(offer, { yes, maxHourlyUsd, plannedNs }, world);
	if (world.stop.aborted)
		throw failure("interrupted", { signal: String(world.stop.reason) });
	const say = (line: string) => progress.say(line);
	return cloud.standUp(offer, world, { yes, say });
}

/**
 * Uses machines, and takes them down whatever came of it: the exit code is that of the use, but 5 where something is left, which beats
 * all others. What went wrong in the use is then said first.
 */
export async function onRented(
	rig: CloudRig,
	say: (line: string) => void,
	world: World,
	use: () => Promise<ExitCode>,
): Promise<ExitCode> {
	let outcome: { code: ExitCode } | { error: unknown };
	try {
		outcome = { code: await use() };
	} catch (error) {
		outcome = { error };
	}
	say(`Taking down the rig ${rig.file.id} ...`);
	try {
		await rig.teardown();
	} catch (error) {
		if ("error" in outcome)
			world.stderr.write(`${maskUrls(wordsOf(outcome.error))}\n`);
		throw asLeft(error, rig.file.id);
	}
	say(`The rig ${rig.file.id} is down; nothing of it is left.`);
	if ("error" in outcome) throw outcome.error;
	return outcome.code;
}

// --- internal ---

/** Of what fails the sentence is kept, to be said with others. */
function gatheredIn(wrong: string[]): (error: unknown) => void {
	return (error) => {
		if (!(error instanceof MqbenchError) || error.code === "interrupted")
			throw error;
		wrong.push(error.message);
	};
}

/** USD; null: no limit. */
function limitOf({ maxHourlyUsd }: RentArgs): number | null {
	if (maxHourlyUsd === undefined) return null;
	const limit = Number(maxHourlyUsd);
	if (/^\d+(\.\d+)?$/.test(maxHourlyUsd) && limit > 0) return limit;
	throw failure("usage", {
		message: `--max-hourly-usd ${maxHourlyUsd}: write US dollars an hour, e.g. --max-hourly-usd 5`,
	});
}

/** A bug of ours in taking down must not hide that machines may be left. */
function asLeft(error: unknown, id: string): MqbenchError {
	if (
		error instanceof MqbenchError &&
		(error.code === "cloud-left" || error.code === "rig-unforgotten")
	)
		return error;
	return failure("cloud-left", {
		text: `The rig ${id} may not be down: ${wordsOf(error)}\nTake it down: mqbench rigs destroy ${id}`,
	});
}

function wordsOf(error: unknown): string {
	if (error instanceof MqbenchError) return error.message;
	return error instanceof Error ? (error.stack ?? error.message) : `${error}`;
}
