import path from "node:path";
import type { networkBaseline } from "../../infra/hosts/network.ts";
import {
	type Broker,
	type Client,
	type ClientFacts,
	type Rig,
	untouchedBroker,
} from "../../infra/rig.ts";
import { brokerOf } from "../brokers/index.ts";
import { MqbenchError } from "../errors.ts";
import { largestOf } from "../extremes.ts";
import { type Plan, setUpBytes, t0AfterNs } from "../model/plan.ts";
import {
	type FaultDone,
	isElsewhere,
	type NetworkPath,
	type RunFileInput,
} from "../model/run-file.ts";
import { targets } from "../model/targets.ts";
import { metricsOf } from "../scenario/metrics.ts";
import { notFresh, onHosts } from "../scenario/rig.ts";
import type { Scenario, System } from "../scenario/scenario.ts";
import { maskUrls } from "../secrets.ts";
import type { World } from "../world.ts";
import { watchBroker } from "./broker-metrics.ts";
import { faultsOf, ofBrokers, sinceT0 } from "./faults.ts";
import { Fleet, type FleetResult, type ProgressEvent, runTogether } from "./fleet.ts";
import { runPath, writeRunFile } from "./folder.ts";
import { outputNotes } from "./k6.ts";
import type { ReadyClient } from "./member.ts";
import type { Progress } from "./progress.ts";
import type { Tick } from "./progress-line.ts";

export interface Command {
	readonly scenario: Scenario;
	readonly folder: string;
	readonly progress: Progress;
	readonly k6Outs: readonly string[];
	/** An SLA that a run cannot meet any more, by its counts so far. */
	hopeless(plan: Plan, counts: Tick): string | null;
}

interface OneRun extends Command {
	readonly plan: Plan;
	/** It and those beside it. */
	readonly loads: readonly Plan[];
	readonly system: System;
	readonly broker: Broker;
	readonly clients: readonly ReadyClient[];
	readonly agent: string;
	readonly baseline: ReturnType<typeof networkBaseline>;
}

/** Starts a run's broker. With `only` a failure ends the command; else it is recorded in the run's result, and null is returned. */
export async function openBroker(
	one: Command & Pick<OneRun, "plan" | "loads" | "system"> & { rig: Rig; only: boolean },
	world: World,
): Promise<Broker | null> {
	const { plan, loads, system, rig, folder, progress } = one;
	const startedAt = timestamp(world);
	if (!plan.server) return untouchedBroker();
	try {
		return await rig.open({
			system,
			level: plan.durabilityLevel,
			messageBytes: largestOf(loads.map(setUpBytes)),
			cpus: plan.pin.brokers,
			logPath: path.join(runPath(folder, plan), "broker.log"),
			faults: [...new Set(ofBrokers(plan).map(({ action }) => action))],
		});
	} catch (error) {
		if (!(error instanceof MqbenchError) || error.code === "interrupted" || one.only) throw error;
		progress.say(`  ${error.message}`);
		for (const load of loads)
			noteNotRun(folder, load, {
				startedAt,
				endedAt: timestamp(world),
				error: maskUrls(error.message),
				brokerUrl: maskUrls(system.url ?? ""),
			});
		return null;
	}
}

/** One run with all its loads: k6, then broker down and each load's run.json, whatever happens in between. */
export async function oneRun(one: OneRun, world: World): Promise<void> {
	const { plan, loads, system, broker, clients, progress } = one;
	const startedAt = timestamp(world);
	let death: string | null = null;
	let since: (() => number) | null = null;
	void broker.died.then((how) => {
		const at =
			since === null
				? "before the first message"
				: `${(since() / 1000).toFixed(1)}s after the first message was due`;
		death = `${system.key}: ${how}, ${at}`;
		progress.say(`  ERROR: ${death}`);
	});
	const fleets: Fleet[] = [];
	const faults = faultsOf(plan, broker, world.clock, async () => fleets[0]?.leader() ?? null);
	let disturbed: FaultDone[] = [];
	let network: NetworkPath[] = [];
	let results: readonly FleetResult[];
	let unread: string[] = [];
	const metrics = metricsOf(system, broker, world.env);
	const file = path.join(runPath(one.folder, plan), "broker-metrics.jsonl");
	const everySeconds = plan.intervalSeconds ?? 1;
	const watching = metrics && watchBroker({ ...metrics, file, everySeconds }, world);
	try {
		network = await one.baseline({
			clients: clients.map(({ client }) => client),
			url: broker.url,
			ports: brokerOf(system).urls,
			onHosts: onHosts(one.scenario.rig, system.key),
		});
		for (const load of loads) {
			const folder = runPath(one.folder, load);
			const onProgress = (line: ProgressEvent) => {
				if (line.mqbench === "start" && load === plan) {
					const t0Ms = Number(BigInt(line.t0UnixNs) / 1_000_000n);
					since = sinceT0(t0Ms, world.clock);
					faults.begin(t0Ms);
				}
				progress.tick(load, line);
				return line.mqbench === "tick" ? one.hopeless(load, line) : null;
			};
			fleets.push(new Fleet({ ...one, folder, plan: load, onProgress }, world));
		}
		results = await runTogether(fleets);
	} finally {
		disturbed = await faults.end();
		const notes = (await watching?.stop()) ?? [];
		// mqbench's own choice of where to look is nobody's mistake.
		if (!metrics?.own) unread = notes;
		await broker.close();
	}
	progress.done();
	const ended = { startedAt, endedAt: timestamp(world), death, disturbed, network, unread };
	for (const result of results) writeEnd(one, result, ended, world);
}

/** Records why a run was not made. Without this it would look like one that crashed. */
export function noteNotRun(
	folder: string,
	plan: Plan,
	of: Pick<RunFileInput, "startedAt" | "endedAt"> & Partial<RunFileInput>,
): void {
	writeRunFile(folder, plan, {
		schema: 1,
		k6Exit: null,
		k6Signal: null,
		interruptedBy: null,
		abortedBy: null,
		error: null,
		notes: [],
		brokerUrl: "",
		brokerVersion: "",
		brokerBinary: null,
		sameHost: targets[plan.target].here,
		...of,
	});
}

/** Does a generator take CPU from the broker? */
export function sharesHost(
	{ identities, sameHost }: Pick<Broker, "identities" | "sameHost">,
	clients: readonly {
		readonly client: Pick<Client, "kind">;
		readonly facts: Pick<ClientFacts, "identity">;
	}[],
): boolean {
	if (identities !== undefined)
		return clients.some(({ facts }) => identities.includes(facts.identity ?? ""));
	return sameHost && clients.some(({ client }) => !isElsewhere(client.kind));
}

export function timestamp(world: World): string {
	return new Date(world.clock.nowMs()).toISOString();
}

// --- internal ---

interface Ended extends Pick<RunFileInput, "startedAt" | "endedAt"> {
	readonly death: string | null;
	/** By the main load's T0. */
	readonly disturbed: readonly FaultDone[];
	readonly network: NetworkPath[];
	readonly unread: readonly string[];
}

function writeEnd(one: OneRun, result: FleetResult, ended: Ended, world: World): void {
	const { system, folder, broker, clients, progress } = one;
	const { startedAt, endedAt, death, network } = ended;
	const { plan } = result;
	const startNs = t0AfterNs(plan);
	const since = <Ns extends number | null>(ns: Ns) => (ns === null ? ns : ns - startNs) as Ns;
	const wrong = result.error ?? result.brokeOff;
	if (wrong !== null)
		progress.say(`  ${plan.beside === null ? "" : `${plan.beside.load}: `}${wrong}`);
	if (result.abortedBy !== null && plan.beside === null)
		progress.say(`  Stopped: ${result.abortedBy} cannot be met any more.`);
	const complaints = [
		...outputNotes(runPath(folder, plan), clients.length, one.k6Outs),
		...(plan.beside === null ? ended.unread : []),
	];
	for (const one of complaints) progress.say(`  Warning: ${one}`);
	// Recorded whatever the SLA's result so far: a broker that died has not passed.
	const notes = [
		...notFresh(one.scenario, system),
		...(broker.notes ?? []),
		...result.notes,
		...complaints,
		...(result.error !== null && death !== null ? [death] : []),
	];
	writeRunFile(folder, plan, {
		schema: 1,
		startedAt,
		endedAt,
		k6Exit: result.ended.code,
		k6Signal: result.ended.signal,
		interruptedBy: world.stop.aborted ? String(world.stop.reason) : null,
		abortedBy: result.abortedBy,
		error: result.error ?? death,
		notes,
		brokerUrl: maskUrls(broker.url),
		brokerVersion: broker.version,
		// A program's name without its path; an image's name is whole.
		brokerBinary: broker.binary?.replace(/^\/.*\//, "") ?? null,
		brokerSettings: broker.settings,
		sameHost: sharesHost(broker, clients),
		topology: broker.topology,
		nodesShareHost: broker.nodesShareHost,
		clients: [...result.clients],
		// Those before a load's start are not its own.
		faults: ended.disturbed
			.slice(ofBrokers(one.plan).length - ofBrokers(plan).length)
			.map((fault) => ({
				...fault,
				calledNs: since(fault.calledNs),
				beganNs: since(fault.beganNs),
				endedNs: since(fault.endedNs),
			})),
		network,
	});
}
