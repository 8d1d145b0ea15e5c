import { existsSync } from "node:fs";
import path from "node:path";
import { brokerOf } from "../../runner/brokers/index.ts";
import { EXIT, type ExitCode, failure, MqbenchError } from "../../runner/errors.ts";
import { RENTING } from "../../runner/model/targets.ts";
import { type RigPlace, writeRig } from "../../runner/scenario/rig.ts";
import { maskUrls } from "../../runner/secrets.ts";
import { commandLine } from "../../runner/shell.ts";
import { orInterrupted } from "../../runner/stop.ts";
import { tell } from "../../runner/text/tell.ts";
import { formatDuration, formatDurationExact } from "../../runner/units.ts";
import type { World } from "../../runner/world.ts";
import { toolsOf } from "../local/tools.ts";
import type { BuildProgress } from "../programs/once.ts";
import { resolveBinaries } from "../programs/resolve.ts";
import { checkHere, type Offer, offer, platformOf } from "./offer.ts";
import { PRICES_OF } from "./prices.ts";
import type { CloudRequest } from "./request.ts";
import { findPulumi } from "./stack.ts";
import { type CloudRig, standUp } from "./stand-up.ts";
import { machinesText } from "./take-down.ts";

/** The outside functions that renting uses; tests pass a fake. */
export interface CloudSide {
	/** Builds or downloads the machines' programs: failures show before anything costs money, and no machine waits for a build. */
	prepare(asked: CloudRequest, world: World, build: BuildProgress, yes: boolean): Promise<void>;
	offer: typeof offer;
	standUp(offer: Offer, world: World, options: { say(line: string): void }): Promise<CloudRig>;
}

/** `--yes` skips the question; `--max-hourly-usd` refuses machines that cost more, or have no price. */
export interface RentOptions {
	readonly yes?: boolean | undefined;
	readonly maxHourlyUsd?: string | undefined;
}

/** Called with lines about builds and about each step. */
export interface Renting {
	readonly build: BuildProgress;
	say(line: string): void;
}

/** The real one. */
export const theCloud: CloudSide = {
	async prepare({ scenario, systems }, world, progress, yes) {
		const { aws } = scenario;
		// Steps of seconds come before steps that may take minutes.
		checkHere(aws, world.env);
		await findPulumi(world);
		const binaries = await resolveBinaries(world, { progress, systems, yes });
		const tools = toolsOf(world, binaries);
		for (const system of scenario.systems)
			if (systems.some((one) => one.system === system.key))
				await brokerOf(system).process?.prepare?.({ system, tools });
		for (const { instance } of [aws.brokers, aws.clients])
			await binaries.on(platformOf(instance), instance);
	},
	offer,
	standUp,
};

/** `mqbench plan`: prints the machines that would be rented, and returns the exit code. */
export async function writeOffer(
	request: CloudRequest,
	world: World,
	cloud: CloudSide,
): Promise<ExitCode> {
	const { plannedNs } = request;
	let code: ExitCode = EXIT.pass;
	let text = `  Standing up, all runs, and the time between them: at most ${formatDuration(plannedNs)}.\n`;
	try {
		text += offerText(await cloud.offer(request, plannedNs, world), plannedNs);
	} catch (error) {
		if (!(error instanceof MqbenchError) || error.code === "interrupted") throw error;
		// A missing account or network is not a mistake.
		const unasked = error.code === "sdk-missing" || error.code === "cloud-unasked";
		const what = unasked ? "AWS was not asked" : "It could not be rented";
		text += `  ${what}: ${error.message}\n`;
		if (!unasked) code = error.exit;
	}
	world.stdout.write(`\nWhat is rented:\n\n${text}`);
	return code;
}

/**
 * Shows an offer and asks the person at the terminal. Fails with `cloud-too-dear`, `cloud-unpriced`, `cloud-unconfirmed` or `cloud-declined`
 * unless it is accepted; nothing has been rented by then.
 */
export async function confirmOffer(
	offer: Offer,
	plannedNs: number | null,
	{ yes = false, maxHourlyUsd: limit }: RentOptions,
	{ stderr, ask, stop }: Pick<World, "stderr" | "ask" | "stop">,
): Promise<void> {
	const { hourlyUsd, unpriced } = offer;
	stderr.write(`To be rented from AWS:\n${offerText(offer, plannedNs)}`);
	const most = Number(limit ?? Number.POSITIVE_INFINITY);
	if (limit !== undefined && hourlyUsd === null) throw failure("cloud-unpriced", { why: unpriced });
	if (hourlyUsd !== null && hourlyUsd > most)
		throw failure("cloud-too-dear", { hourly: dollars(hourlyUsd), most: dollars(most) });
	if (yes) return;
	if (ask === null) throw failure("cloud-unconfirmed", {});
	const price =
		hourlyUsd === null
			? ", at a price that is not known"
			: ` for about ${dollars(hourlyUsd)} an hour`;
	const answer = await ask(`Rent them${price}? [y/N] `);
	orInterrupted(stop);
	if (!/^\s*y(es)?\s*$/i.test(answer)) throw failure("cloud-declined", {});
}

/** Fails with `usage` if an option for rented machines is given and nothing is rented. */
export function refuseRentOptions({ maxHourlyUsd }: RentOptions): void {
	if (maxHourlyUsd !== undefined)
		throw failure("usage", {
			message: `--max-hourly-usd is for target ${RENTING}; add --target ${RENTING}, or remove it`,
		});
}

/** Refuses options that a run on rented machines cannot have, before any question is asked. Fails with `usage` or `output-exists`. */
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
 * Rents, uses the rig, with the path of its rig.json, and takes it down in any case. The exit code is the use's, except that 5 (something
 * is left) takes precedence; a failure of the use is reported first.
 */
export async function rentAndUse(
	request: CloudRequest,
	args: RentOptions,
	progress: Renting,
	world: World,
	cloud: CloudSide,
	use: (rig: string) => Promise<ExitCode>,
): Promise<ExitCode> {
	const rig = await rent(request, request.plannedNs, args, progress, world, cloud);
	return useThenTakeDown(rig, progress, world, () => use(rig.place.path));
}

/** Rents machines that stay, and writes the rig.json with their addresses. Resolves with the text for people. */
export async function upInCloud(
	request: CloudRequest,
	args: RentOptions & { readonly path: string },
	place: RigPlace,
	progress: Renting,
	world: World,
	cloud: CloudSide,
): Promise<string> {
	const rig = await rent(request, null, args, progress, world, cloud);
	const { file } = rig;
	try {
		orInterrupted(world.stop);
		await writeRig(place, file);
	} catch (error) {
		await useThenTakeDown(rig, progress, world, () => Promise.reject(error));
	}
	rig.keep();
	const { machines = {}, region = "", hourlyUsd = null, endsAt = null } = file.cloud ?? {};
	const { ami, ttlNs } = request.scenario.aws;
	const usd = hourlyUsd === null ? "price not known" : `$${hourlyUsd.toFixed(2)} an hour`;
	return `${machinesText(machines)} are up in ${region} (${usd}). ${ami === null ? "They" : "If their image has cloud-init, they"} end themselves after ${formatDurationExact(ttlNs)} (${endsAt}).
${tell("measure-on-rig", { file: place.shown, scenario: args.path })}
They cost money until: npx mqbench down ${commandLine([place.shown])}, or npx mqbench rigs destroy ${commandLine([file.id])}
`;
}

/** The machines, their price and possible problems with them, a line each. */
export function offerText(offer: Offer, plannedNs: number | null): string {
	return [
		...offer.lines,
		`Price: ${costText(offer, plannedNs)}.`,
		...offer.warnings.map((warning) => `Warning: ${warning}`),
	]
		.map((line) => `  ${line}\n`)
		.join("");
}

// --- internal ---

/** Offer, confirmation, machines that are ready. After a failure nothing is left, or the exit code is 5. `plannedNs` as in `offer`. */
async function rent(
	request: CloudRequest,
	plannedNs: number | null,
	args: RentOptions,
	{ build, say }: Renting,
	world: World,
	cloud: CloudSide,
): Promise<CloudRig> {
	// Before any question is asked.
	const limit = args.maxHourlyUsd;
	if (limit !== undefined && !(/^\d+(\.\d+)?$/.test(limit) && Number(limit) > 0))
		throw failure("usage", {
			message: `--max-hourly-usd ${limit}: write US dollars an hour, e.g. --max-hourly-usd 5`,
		});
	await cloud.prepare(request, world, build, args.yes ?? false);
	const offer = await cloud.offer(request, plannedNs, world);
	await confirmOffer(offer, plannedNs, args, world);
	orInterrupted(world.stop);
	return cloud.standUp(offer, world, { say });
}

async function useThenTakeDown<T>(
	{ file, teardown }: CloudRig,
	{ say }: Renting,
	world: World,
	use: () => Promise<T>,
): Promise<T> {
	const [outcome] = await Promise.allSettled([use()]);
	say(`Taking down the rig ${file.id} ...`);
	await teardown().catch((error) => {
		const reason = outcome.status === "rejected" ? outcome.reason : null;
		const words = reason instanceof MqbenchError ? reason.message : (reason?.stack ?? reason);
		if (reason !== null) world.stderr.write(`${maskUrls(String(words))}\n`);
		throw error;
	});
	say(`The rig ${file.id} is down; nothing of it is left.`);
	if (outcome.status === "rejected") throw outcome.reason;
	return outcome.value;
}

function dollars(usd: number): string {
	return `$${usd.toFixed(2)}`;
}

/** The price of an hour, of the planned time, and the highest possible one. */
function costText({ hourlyUsd, unpriced, config }: Offer, plannedNs: number | null): string {
	const ttlNs = config.ttlMinutes * 60e9;
	if (hourlyUsd === null)
		return `not known: ${unpriced}; they end themselves after ${formatDurationExact(ttlNs)}`;
	const of = (ns: number) => dollars((hourlyUsd * ns) / 3_600e9);
	return [
		`about ${dollars(hourlyUsd)} an hour without internet traffic`,
		...(plannedNs === null
			? []
			: [`up to ${of(plannedNs)} for the run (${formatDuration(plannedNs)})`]),
		`up to ${of(ttlNs)} until they end themselves (${formatDurationExact(ttlNs)}). By AWS's list of ${PRICES_OF} for us-east-1, on demand: other regions and spot differ`,
	].join(", ");
}
