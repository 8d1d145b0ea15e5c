import path from "node:path";
import { resolveBinaries } from "../../infra/binaries/resolve.ts";
import { networkBaseline } from "../../infra/hosts/network.ts";
import type { Broker, Client, Rig } from "../../infra/rig.ts";
import { clientsOf, provision } from "../../infra/targets.ts";
import { brokerOf } from "../brokers/index.ts";
import { type ErrorCode, failure, MqbenchError } from "../errors.ts";
import type { EnvironmentFile } from "../model/environment-file.ts";
import type { Plan } from "../model/plan.ts";
import type {
	FaultDone,
	NetworkPath,
	RunFileInput,
} from "../model/run-file.ts";
import { targets } from "../model/targets.ts";
import { packageFolder, packageVersion } from "../package.ts";
import { notFresh, onHosts } from "../scenario/rig.ts";
import type { Scenario, System } from "../scenario/scenario.ts";
import { maskUrls } from "../secrets.ts";
import type { World } from "../world.ts";
import { readClient } from "./client-read.ts";
import { readEnvironment } from "./environment.ts";
import { faultNotes, faultsOf } from "./faults.ts";
import { type Fleet, type FleetResult, startFleet } from "./fleet.ts";
import {
	floorPath,
	removeRunFolder,
	runPath,
	writeEnvironment,
	writeRunFile,
} from "./folder.ts";
import type { ReadyClient } from "./member.ts";
import type { Progress } from "./progress.ts";
import type { ProgressLine } from "./progress-line.ts";
import { sharesHost } from "./sharing.ts";
import { sinceT0 } from "./since.ts";

/** What the generator counts once a second. */
export type Tick = Extract<ProgressLine, { mqbench: "tick" }>;

export interface Measurement {
	readonly scenario: Scenario;
	/** How many runs the command plans so far; a search makes more of them as it goes on, --confirm adds some at the end. */
	readonly planned: number;
	/** The runs that are to be made, each asked for when the one before is over and can be read. */
	readonly runs: Iterable<Plan>;
	/** The folder holds an earlier command's runs: it is never removed. */
	readonly resumed: boolean;
	/** Short runs on noop, after the others. */
	readonly floors: readonly Plan[];
	/** An SLA that a run cannot meet any more, by its counts so far; null: go on. */
	hopeless(plan: Plan, counts: Tick): string | null;
	/** Folder of the command, which holds plans and scripts already. */
	readonly folder: string;
	readonly progress: Progress;
}

/**
 * Makes the runs, one after the other: gets programs and rig, and leaves in the folder what `buildResult` reads. Without
 * a single run to show it fails, and removes the folder.
 */
export async function measure(all: Measurement, world: World): Promise<void> {
	const { runs, folder, progress, scenario } = all;
	const made: Plan[] = [];
	let begun = all.resumed;
	// The run that is about to be made; null: the last one has said itself how it ended.
	let ahead: Plan | null = null;
	const queue = runs[Symbol.iterator]();
	// Of a command that was stopped: each run that it did not come to says so.
	const noteRest = () => {
		const now = timestamp(world);
		const stopped = {
			...{ startedAt: now, endedAt: now },
			interruptedBy: String(world.stop.reason),
		};
		if (ahead) noteNotRun(folder, ahead, stopped);
		// A search has no rest, as each of its runs follows from the one before.
		if (made.some(({ search }) => search !== null)) return;
		for (let next = queue.next(); !next.done; next = queue.next())
			noteNotRun(folder, next.value, stopped);
	};
	try {
		const binaries = await resolveBinaries(world, {
			extensions: path.join(packageFolder, "extensions"),
			version: packageVersion,
			progress: progress.build,
		});
		const environment = readEnvironment(
			timestamp(world),
			{ k6: "unknown", go: binaries.go },
			scenario,
		);
		writeEnvironment(folder, environment);
		const rig = await provision(
			scenario.target,
			world,
			binaries,
			scenario.rig,
			scenario.clients.kind,
		);
		let own = rig.clients;
		try {
			if (own.length === 0)
				own = await clientsOf(scenario.clients, world, binaries, rig);
			const clients = await reach(own, progress);
			const baseline = networkBaseline();
			for (let next = queue.next(); !next.done; next = queue.next()) {
				const plan = next.value;
				ahead = plan;
				if (world.stop.aborted) break;
				made.push(plan);
				// More than at the start, when --confirm has added some.
				progress.run(plan, all.planned);
				const system = systemOf(scenario, plan);
				const broker = await openBroker({ ...all, plan, system, rig }, world);
				if (!broker) continue;
				begun = true;
				await oneRun(
					{ ...all, plan, system, broker, clients, baseline },
					world,
				);
				// A run that was stopped itself has said so in its own run.json.
				ahead = null;
				if (world.stop.aborted) break;
			}
			if (world.stop.aborted) noteRest();
			// Last: the first message of a command is not to wait for them.
			for (const plan of all.floors) {
				if (world.stop.aborted) break;
				progress.floor(plan);
				await oneFloor({ plan, folder, clients, progress }, world);
			}
		} catch (error) {
			// What was measured until a Ctrl-C is shown like any other result.
			if (!begun || !isCode(error, "interrupted")) throw error;
			noteRest();
		} finally {
			progress.done();
			await Promise.allSettled(own.map((client) => client.close()));
			await rig.teardown();
		}
		noteVersions(folder, environment, made);
	} catch (error) {
		// The sentence about a broker that did not start names its log.
		if (!begun && !isCode(error, "broker-start")) removeRunFolder(folder);
		throw error;
	}
	if (begun || !world.stop.aborted) return;
	removeRunFolder(folder);
	throw failure("interrupted", { signal: String(world.stop.reason) });
}

// --- internal ---

/** Once a command: finds out what the clients are, and brings the programs to those that are not this machine. */
async function reach(
	clients: readonly Client[],
	progress: Progress,
): Promise<ReadyClient[]> {
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

/**
 * Brings the broker of a run up. The only run of a command fails with it; among several the failure becomes the run's
 * result (null is returned), as the others are still worth measuring.
 */
async function openBroker(
	one: Measurement & { plan: Plan; system: System; rig: Rig },
	world: World,
): Promise<Broker | null> {
	const { plan, planned, system, rig, folder, progress } = one;
	const startedAt = timestamp(world);
	try {
		return await rig.open({
			system,
			level: plan.durabilityLevel,
			messageBytes: plan.message.bytes,
			cpus: plan.pin.brokers,
			logPath: path.join(runPath(folder, plan), "broker.log"),
			faults: [...new Set(plan.faults.map(({ action }) => action))],
		});
	} catch (error) {
		if (!(error instanceof MqbenchError) || isCode(error, "interrupted"))
			throw error;
		if (planned === 1) throw error;
		progress.say(`  ${error.message}`);
		noteNotRun(folder, plan, {
			...{ startedAt, endedAt: timestamp(world) },
			error: maskUrls(error.message),
			brokerUrl: maskUrls(system.url ?? ""),
		});
		return null;
	}
}

/** A run that could not be made, or that a Ctrl-C kept from being made, says so: else it would look like one that failed. */
function noteNotRun(
	folder: string,
	plan: Plan,
	of: Pick<RunFileInput, "startedAt" | "endedAt"> & Partial<RunFileInput>,
): void {
	writeRunFile(folder, plan, {
		...{ schema: 1, k6Exit: null, k6Signal: null },
		...{ interruptedBy: null, abortedBy: null, error: null, notes: [] },
		...{ brokerUrl: "", brokerVersion: "", brokerBinary: null },
		brokerSettings: {},
		// Would the broker have been on this machine?
		sameHost: targets[plan.target].here,
		...of,
	});
}

interface OneRun extends Measurement {
	readonly plan: Plan;
	readonly system: System;
	readonly broker: Broker;
	readonly clients: readonly ReadyClient[];
	/** Of the command. */
	readonly baseline: ReturnType<typeof networkBaseline>;
}

/**
 * Measures the generator alone. A floor that cannot be measured is unknown in the reports: no reason to go without the
 * runs themselves, which will meet whatever was in the way.
 */
async function oneFloor(
	one: {
		readonly plan: Plan;
		readonly folder: string;
		readonly clients: readonly ReadyClient[];
		readonly progress: Progress;
	},
	world: World,
): Promise<void> {
	const { plan, folder, clients, progress } = one;
	const fleet = startFleet(
		{
			clients,
			folder: floorPath(folder, plan),
			plan,
			url: "",
			brokerPids: () => [],
			onProgress(line) {
				progress.tick(plan, line);
				return null;
			},
		},
		world,
	);
	await fleet.ended;
	progress.done();
}

/** One run: k6, broker down, and run.json, whatever happens in between. */
async function oneRun(one: OneRun, world: World): Promise<void> {
	const { plan, system, folder, broker, clients, progress } = one;
	const startedAt = timestamp(world);
	let death: string | null = null;
	let since: (() => number) | null = null;
	void broker.died.then((how) => {
		const at =
			since === null
				? "before the first message"
				: `${(since() / 1000).toFixed(1)}s after the first message was due`;
		death = `${system.key}: ${how}, ${at}`;
		progress.say(`  ${death}`);
	});
	let fleet: Fleet | null = null;
	const faults = faultsOf(
		plan,
		broker,
		world.clock,
		async () => fleet?.leader() ?? null,
	);
	let disturbed: FaultDone[] = [];
	let network: NetworkPath[] = [];
	let result: FleetResult;
	try {
		network = await one.baseline({
			clients: clients.map(({ client }) => client),
			url: broker.url,
			defaultPort: brokerOf(system).defaultPort,
			onHosts: onHosts(
				one.scenario.rig && { path: "", rig: one.scenario.rig },
				system.key,
			),
		});
		fleet = startFleet(
			{
				clients,
				folder: runPath(folder, plan),
				plan,
				url: broker.url,
				brokerPids: () => broker.pids,
				onProgress(line) {
					if (line.mqbench === "start") {
						const t0Ms = Number(BigInt(line.t0UnixNs) / 1_000_000n);
						since = sinceT0(t0Ms, world.clock);
						faults.begin(t0Ms);
					}
					progress.tick(plan, line);
					return line.mqbench === "tick" ? one.hopeless(plan, line) : null;
				},
			},
			world,
		);
		result = await fleet.ended;
	} finally {
		disturbed = await faults.end();
		await broker.close();
	}
	progress.done();
	const wrong = result.error ?? result.brokeOff;
	if (wrong !== null) progress.say(`  ${wrong}`);
	if (result.abortedBy !== null)
		progress.say(`  Stopped: ${result.abortedBy} cannot be met any more.`);
	// Whatever its SLA says of the part before: a broker that died has not passed.
	const notes = [
		...notFresh(one.scenario, system),
		...faultNotes(disturbed, plan, {
			whole: wrong === null && result.abortedBy === null && !world.stop.aborted,
		}),
		...(broker.notes ?? []),
		...result.notes,
		...(result.error !== null && death !== null ? [death] : []),
	];
	writeRunFile(folder, plan, {
		schema: 1,
		startedAt,
		endedAt: timestamp(world),
		k6Exit: result.ended.code,
		k6Signal: result.ended.signal,
		interruptedBy: world.stop.aborted ? String(world.stop.reason) : null,
		abortedBy: result.abortedBy,
		error: result.error ?? death,
		notes,
		brokerUrl: maskUrls(broker.url),
		brokerVersion: broker.version,
		// Of a program its name; an image's is whole.
		brokerBinary:
			broker.binary && path.isAbsolute(broker.binary)
				? path.basename(broker.binary)
				: broker.binary,
		brokerSettings: broker.settings,
		sameHost: sharesHost(broker, clients),
		topology: broker.topology,
		clients: [...result.clients],
		faults: disturbed,
		network,
	});
}

function systemOf(scenario: Scenario, plan: Plan): System {
	const system = scenario.systems.find(({ key }) => key === plan.system);
	if (!system) throw new Error(`the plan names no system: ${plan.system}`);
	return system;
}

function isCode(error: unknown, code: ErrorCode): boolean {
	return error instanceof MqbenchError && error.code === code;
}

function timestamp(world: World): string {
	return new Date(world.clock.nowMs()).toISOString();
}

/** What only the measuring process knew: versions of k6, client library and broker, by system. */
function noteVersions(
	folder: string,
	environment: EnvironmentFile,
	plans: readonly Plan[],
): void {
	let { k6, go } = environment;
	const systems: EnvironmentFile["systems"] = {};
	for (const plan of plans) {
		const client = readClient(runPath(folder, plan), 0).lines.find(
			(line) => line.type === "client",
		);
		if (!client) continue;
		k6 = client.versions.k6;
		go = client.versions.go;
		systems[plan.system] = {
			broker: client.versions.server,
			library: client.versions.library,
		};
	}
	writeEnvironment(folder, { ...environment, k6, go, systems });
}
