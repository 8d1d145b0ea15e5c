import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { networkBaseline } from "../../infra/hosts/network.ts";
import { ownSettings } from "../../infra/machine-settings.ts";
import { pin } from "../../infra/programs/pins.ts";
import { resolveBinaries } from "../../infra/programs/resolve.ts";
import { type Client, untouchedBroker } from "../../infra/rig.ts";
import { clientsOf, provision } from "../../infra/targets.ts";
import { failure, MqbenchError } from "../errors.ts";
import { readClient } from "../evidence/client-read.ts";
import { readJson } from "../evidence/json.ts";
import { runFolders } from "../given-folder.ts";
import type { EnvironmentFile, GitCommit } from "../model/environment-file.ts";
import type { HostSettings } from "../model/machine-settings.ts";
import { Plan } from "../model/plan.ts";
import type { World } from "../world.ts";
import { readEnvironment, resumedEnvironment, withHosts } from "./environment.ts";
import { Fleet, type ProgressEvent } from "./fleet.ts";
import { environmentIn, floorPath, removeRunFolder, writeEnvironment } from "./folder.ts";
import type { ReadyClient } from "./member.ts";
import { type Command, noteNotRun, oneRun, openBroker, timestamp } from "./one-run.ts";
import type { Progress } from "./progress.ts";

interface Measurement extends Command {
	/** Number of runs planned so far. A search adds runs as it goes on, --confirm adds some at the end. */
	readonly runCount: number;
	/** The runs to make, each asked for when the one before is over and can be read. */
	readonly runs: Iterable<Plan>;
	/** A run's loads, the main load first. Without it, there is no other. */
	loads?(plan: Plan): readonly Plan[];
	/** The scenario's commit. Never rejects. */
	readonly git: Promise<GitCommit | null>;
	/** The folder holds an earlier command's runs, so it is never removed. */
	readonly resumed: boolean;
	readonly yes?: boolean;
	/** Short runs on noop, after the others. */
	readonly floors: readonly Plan[];
}

/** Makes the runs one after the other, and writes the files for `buildResult`. If it fails before the first run, it removes the folder. */
export async function measure(all: Measurement, world: World): Promise<void> {
	const { runs, folder, progress, scenario } = all;
	const { target, clients: load, kubernetes } = scenario;
	const loadsOf = (plan: Plan) => all.loads?.(plan) ?? [plan];
	const made: Plan[] = [];
	let begun = all.resumed;
	// The run that is about to be made, or null if the last one has recorded how it ended.
	let ahead: Plan | null = null;
	const queue = runs[Symbol.iterator]();
	// After a stop, records the reason in each run that was not made.
	const noteRest = () => {
		const now = timestamp(world);
		const stopped = { startedAt: now, endedAt: now, interruptedBy: String(world.stop.reason) };
		const note = (plan: Plan) => {
			for (const one of loadsOf(plan)) noteNotRun(folder, one, stopped);
		};
		if (ahead) note(ahead);
		// A search has no rest, because each of its runs follows from the one before.
		if (made.some(({ search }) => search !== null)) return;
		for (let next = queue.next(); !next.done; next = queue.next()) note(next.value);
	};
	// Started early: it answers while the programs are found.
	const settings = ownSettings();
	try {
		const binaries = await resolveBinaries(world, {
			progress: progress.build,
			systems: scenario.systems,
			drivers: scenario.drivers,
			yes: all.yes ?? false,
		});
		if (scenario.drivers) pin(scenario.drivers);
		const { go, origin } = binaries;
		const known = { go, origin, scenario, git: await all.git, settings: await settings };
		const before = all.resumed ? environmentIn(folder) : null;
		let environment = resumedEnvironment(before, readEnvironment(timestamp(world), known));
		writeEnvironment(folder, environment);
		const note = (found: readonly HostSettings[]) => {
			const known = environment;
			environment = withHosts(known, found);
			if (!isDeepStrictEqual(environment, known)) writeEnvironment(folder, environment);
		};
		const rig = await provision(target, world, binaries, scenario.rig, load.kind, kubernetes);
		let own: readonly Client[] = [];
		try {
			own = await clientsOf(load, world, binaries, { ...rig, kubernetes });
			const clients = await reach(own, progress);
			note(
				clients.flatMap(({ client: { name }, facts: { settings } }) =>
					settings === undefined ? [] : { name, role: "load" as const, settings },
				),
			);
			const baseline = networkBaseline();
			for (let next = queue.next(); !next.done; next = queue.next()) {
				const plan = next.value;
				ahead = plan;
				if (world.stop.aborted) break;
				made.push(plan);
				// The number may exceed the one at the start, when --confirm has added runs.
				const loads = loadsOf(plan);
				progress.run(plan, all.runCount, loads.slice(1));
				const system = scenario.systems.find(({ key }) => key === plan.system);
				if (!system) throw new Error(`the plan names no system: ${plan.system}`);
				const one = { ...all, plan, loads, system };
				const only = all.runCount === 1;
				const broker = await openBroker({ ...one, rig, only }, world);
				if (!broker) continue;
				begun = true;
				note(broker.hosts ?? []);
				const { agent } = binaries;
				await oneRun({ ...one, broker, clients, agent, baseline }, world);
				// A run that was stopped itself has recorded that in its run.json.
				ahead = null;
				if (world.stop.aborted) break;
			}
			if (world.stop.aborted) noteRest();
			// Last, so the first message of a command does not wait for them.
			for (const plan of all.floors) {
				if (world.stop.aborted) break;
				progress.floor(plan);
				await oneFloor(plan, clients, binaries.agent, all, world);
			}
		} catch (error) {
			// The figures until a Ctrl-C are shown like any other result.
			if (!begun || codeOf(error) !== "interrupted") throw error;
			noteRest();
		} finally {
			progress.done();
			await Promise.allSettled(own.map((client) => client.close()));
			await rig.teardown();
		}
		noteVersions(folder, environment);
	} catch (error) {
		// The message about a broker that did not start names its log.
		if (!begun && codeOf(error) !== "broker-start") removeRunFolder(folder);
		throw error;
	}
	if (begun || !world.stop.aborted) return;
	removeRunFolder(folder);
	throw failure("interrupted", { signal: String(world.stop.reason) });
}

// --- internal ---

/** Prepares the clients, once a command: finds their facts, and copies the programs to clients on other machines. */
async function reach(clients: readonly Client[], progress: Progress): Promise<ReadyClient[]> {
	const ready = await Promise.all(
		clients.map(async (client) => ({ client, facts: await client.prepare() })),
	);
	const elsewhere = ready.filter(({ client }) => client.kind !== "local");
	if (elsewhere.length > 0)
		progress.say(
			`The load comes from ${elsewhere.map(({ client, facts }) => `${client.name} (${facts.machine})`).join("; ")}.`,
		);
	return ready;
}

/** Measures only the generator. A floor that fails is unknown in the reports: the runs themselves meet the same trouble. */
async function oneFloor(
	plan: Plan,
	clients: readonly ReadyClient[],
	agent: string,
	{ folder, progress }: Command,
	world: World,
): Promise<void> {
	const onProgress = (line: ProgressEvent) => {
		// The report shows the floor's best second, which only the files contain.
		if (line.mqbench !== "end") progress.tick(plan, line);
		return null;
	};
	const where = { clients, agent, folder: floorPath(folder, plan), broker: untouchedBroker() };
	await new Fleet({ ...where, plan, k6Outs: [], onProgress }, world).run();
	progress.done();
}

function codeOf(error: unknown) {
	return error instanceof MqbenchError ? error.code : null;
}

/** Adds facts that only the measuring process has: versions of k6, client library and broker, by system. */
function noteVersions(folder: string, environment: EnvironmentFile): void {
	let { k6, go } = environment;
	const systems = { ...environment.systems };
	// Includes runs of earlier commands, because a command that was killed has recorded nothing.
	for (const run of runFolders(folder, "runs")) {
		const client = readClient(run, 0).lines.find((line) => line.type === "client");
		if (!client) continue;
		const { versions } = client;
		({ k6, go } = versions);
		try {
			const { system } = readJson(path.join(run, "plan.json"), Plan);
			systems[system] = { broker: versions.server, library: versions.library };
		} catch {
			// The report names a damaged plan.
		}
	}
	writeEnvironment(folder, { ...environment, k6, go, systems });
}
