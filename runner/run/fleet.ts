import { copyFile, rm } from "node:fs/promises";
import path from "node:path";
import type { Ended } from "../../infra/process.ts";
import type { Broker } from "../../infra/rig.ts";
import { CATCH_UP } from "../model/load.ts";
import { acrossClients, beginNs, type Plan, setUpMs, t0AfterNs } from "../model/plan.ts";
import { isElsewhere } from "../model/run-file.ts";
import { packageFolder } from "../package.ts";
import { maskUrls } from "../secrets.ts";
import type { World } from "../world.ts";
import { type Crossing, makeArrival } from "./arrival.ts";
import { clockOffsetsOf, clocksOf } from "./clocks.ts";
import { GRACE_MS } from "./k6.ts";
import { Member, type ReadyClient, reasonText } from "./member.ts";
import { mergeProgress } from "./merge-progress.ts";
import type { ControlLine, End, Opens, ProgressLine, Tick } from "./progress-line.ts";
import { sampleResources } from "./resources.ts";
import { opensAt } from "./warm-up.ts";

interface FleetOptions {
	readonly clients: readonly ReadyClient[];
	readonly agent: string;
	readonly folder: string;
	readonly plan: Plan;
	/** Its processes on this machine are sampled, and if it is gone for good, a run that has sent everything ends without a drain. */
	readonly broker: Pick<Broker, "url" | "pids" | "gone">;
	readonly k6Outs: readonly string[];
	/** Gets T0 (by our clock), each second, and the end of a single client. To stop the run, returns an SLA that it cannot meet any more. */
	onProgress(line: ProgressEvent): string | null;
}

export type ProgressEvent = Extract<ProgressLine, { mqbench: "start" }> | Tick | Opens | End;
export type FleetResult = Awaited<ReturnType<Fleet["run"]>>;

/** Makes the loads of a run, the main load first: they get one T0, none leaves before all are done, and one that breaks off ends them all. */
export async function runTogether(fleets: readonly Fleet[]): Promise<FleetResult[]> {
	for (const fleet of fleets) fleet.join(fleets);
	return Promise.all(fleets.map((fleet) => fleet.run()));
}

/**
 * Makes a load. A single process on this machine begins by itself; else client 0 makes the topics, then the others start, and when all are
 * ready they get T0. The first client that breaks off, or `world.stop`, ends the run: all close their books.
 */
export class Fleet {
	readonly #options: FleetOptions;
	readonly #world: World;
	readonly #members: readonly Member[];
	#alone: boolean;
	/** All loads of the run, this one included, the main load first. */
	#all: readonly Fleet[] = [this];
	/** Resolves when its clients are ready, or will never be. */
	readonly #ready: Promise<void>;
	#tellReady: () => void = () => {};
	readonly #crossings: (Crossing | null)[];
	readonly #hasArrived: ReturnType<typeof makeArrival>;
	#questions = 0;
	#begun = false;
	#closing = false;
	/** All books are closed, and the clients were asked to leave. */
	#finishing = false;
	/** All clients were asked to break off, so their end is not a failure any more. */
	#stopping = false;
	#sampling: ReturnType<typeof sampleResources> | null = null;
	#t0Ms = 0;
	readonly #timers = new Set<NodeJS.Timeout>();
	readonly #readyMs: number;
	#abortedBy: string | null = null;
	#endedBy: string | null = null;
	/** p50 of each second, ns, while a warm-up until steady is undecided. */
	#warmUp: (number | null)[] | null;
	#failed: Member | null = null;

	constructor(options: FleetOptions, world: World) {
		const { clients, plan } = options;
		this.#options = options;
		this.#world = world;
		this.#members = clients.slice(0, plan.client.count).map((client, i) => new Member(client, i));
		this.#alone = this.#members.length === 1 && clients[0]?.client.kind === "local";
		this.#crossings = this.#members.map(() => null);
		this.#hasArrived = makeArrival(plan);
		this.#readyMs = setUpMs(plan) + READY_MORE_MS;
		this.#warmUp = plan.schedule.steady === null ? null : [];
		this.#ready = new Promise((resolve) => {
			this.#tellReady = resolve;
		});
	}

	join(all: readonly Fleet[]): void {
		this.#all = all;
		if (all.length > 1) this.#alone = false;
	}

	async run() {
		const { stop } = this.#world;
		const interrupt = () => this.#interrupt();
		if (stop.aborted) interrupt();
		stop.addEventListener("abort", interrupt, { once: true });
		try {
			await this.#place();
			await this.#conduct();
			await Promise.all(this.#members.map((member) => member.collect()));
		} finally {
			this.#tellReady();
			stop.removeEventListener("abort", interrupt);
			for (const timer of this.#timers) clearTimeout(timer);
			await rm(path.join(this.#options.folder, PAYLOAD), { force: true });
		}
		return this.#result();
	}

	/** The broker's name for the node that now leads the first topic, or null if it reports none. Fails if no client can be asked. */
	async leader(): Promise<string | null> {
		const member = this.#members.find(({ running }) => running);
		if (!member || !this.#begun) throw new Error("no client is there to ask the broker who leads");
		const id = ++this.#questions;
		member.running?.say({ ask: "leader", id });
		const answer = await member.hears("leader", LEADER_MS, id);
		if (answer === null) throw new Error(`${member.label} did not say who leads`);
		if (answer.error) throw new Error(maskUrls(answer.error));
		return answer.node;
	}

	async #place(): Promise<void> {
		const { folder, plan } = this.#options;
		const { file } = plan.message;
		const elsewhere = this.#members.filter(({ client }) => isElsewhere(client.kind));
		if (file !== null && elsewhere.length > 0)
			try {
				// Removed after the run: the payload is the user's own, and may be large.
				await copyFile(file, path.join(folder, PAYLOAD));
			} catch (error) {
				for (const member of elsewhere) this.#fail(member, reasonText(`${file}: `, error));
				return;
			}
		await Promise.all(
			this.#members.map(async (member) => {
				const files = ["plan.json", "script.js"];
				if (file !== null && elsewhere.includes(member)) files.push(PAYLOAD);
				try {
					await member.place(folder, files);
				} catch (error) {
					this.#fail(member, reasonText("", error, member.client.name));
				}
			}),
		);
	}

	async #conduct(): Promise<void> {
		const listen = this.#listen();
		const [first, ...others] = this.#members as [Member, ...Member[]];
		try {
			// The main load makes what others may read.
			if (this.#main !== this) await this.#main.#ready;
			for (const group of [[first], others]) {
				for (const member of group) {
					if (this.#stopping) break;
					this.#start(member, listen);
					this.#sampling ??= this.#sample();
				}
				if (!this.#alone) await Promise.all(group.map((member) => this.#awaitReady(member)));
			}
			if (!this.#stopping) await this.#introduce();
			this.#tellReady();
			if (this.#main === this && !this.#alone) await this.#beginAll();
		} catch (error) {
			// A bug, or CPUs that do not exist: the other clients must not be left running.
			this.#interruptAll();
			throw error;
		} finally {
			const started = this.#members.filter(({ started }) => started);
			await Promise.all(started.map(({ over }) => over));
			await this.#sampling?.stop();
		}
	}

	#start(member: Member, listen: Listen): void {
		const { plan, folder, broker, k6Outs } = this.#options;
		const { address } = member.facts;
		const env: Record<string, string> = {
			[plan.urlEnv]: broker.url,
			// k6's outputs get the verdict of the run from it.
			...(this.#alone && k6Outs.length > 0 ? { MQBENCH_RUNNER: INSIDE_K6 } : {}),
			...(this.#alone ? { MQBENCH_CONTROL: "1" } : { MQBENCH_COORDINATED: "1" }),
			...(address === undefined ? {} : { MQBENCH_LISTEN: address }),
			...(plan.message.file !== null && isElsewhere(member.client.kind)
				? { MQBENCH_PAYLOAD_FILE: PAYLOAD }
				: {}),
		};
		const onProgress = (line: ProgressLine) => listen(member, line);
		member.start({ plan, folder, outs: k6Outs, env, onProgress }, this.#world);
		if (this.#alone) this.#begun = true;
		if (member.index === 0) this.#watch();
		void member.over.then((ended) => this.#seeOff(member, ended, listen));
	}

	#sample() {
		const { agent, folder, broker, plan } = this.#options;
		const seconds = Math.min(10, plan.intervalSeconds ?? 1);
		// Sampled only when all clients are here: some of them would be mistaken for the whole.
		const here = this.#members.every(({ client }) => client.kind === "local");
		return sampleResources(agent, path.join(folder, "resources.jsonl"), seconds, () => ({
			generator: here
				? this.#all.flatMap((load) => load.#members.flatMap(({ pid }) => pid ?? []))
				: [],
			broker: broker.pids,
		}));
	}

	async #awaitReady(member: Member): Promise<void> {
		if (!member.started || (await member.hears("ready", this.#readyMs))) return;
		// A client that has ended has already failed with its own reason.
		if (member.ended !== null) return;
		const words = member.running?.complaint();
		const limit = `${this.#readyMs / 1000}s`;
		this.#fail(member, `it was not ready within ${limit}${words ? `: ${words}` : ""}`);
	}

	/** Without a server clients connect to each other, so each gets the addresses of the others' subscriptions. */
	async #introduce(): Promise<void> {
		if (this.#members.every(({ endpoints }) => endpoints.length === 0)) return;
		await Promise.all(
			this.#members.map(async (member) => {
				const peers = this.#members.flatMap((one) => (one === member ? [] : one.endpoints));
				const why = await member.meet(peers, this.#readyMs);
				if (why !== null) this.#fail(member, maskUrls(why));
			}),
		);
	}

	get #main(): Fleet {
		return this.#all[0] ?? this;
	}

	/** One T0 for all loads; one that starts later has its own so much later. */
	async #beginAll(): Promise<void> {
		await Promise.all(this.#all.map((load) => load.#ready));
		if (this.#all.some((load) => load.#stopping)) return;
		const t0Ms = Math.ceil(this.#world.clock.nowMs()) + T0_LEAD_MS;
		for (const load of this.#all) load.#begin(BigInt(t0Ms) * 1_000_000n);
	}

	/** Hands out T0: the same moment for all, by each client's own clock. */
	#begin(runT0UnixNs: bigint): void {
		this.#begun = true;
		const { offsetsNs } = clockOffsetsOf(this.#members);
		const { plan } = this.#options;
		const t0UnixNs = runT0UnixNs + BigInt(t0AfterNs(plan) - beginNs(plan));
		for (const { running, index } of this.#members) {
			const aheadNs = BigInt(offsetsNs[index] ?? 0);
			running?.say({ t0UnixNs: String(t0UnixNs + aheadNs) });
		}
		this.#tell({ mqbench: "start", t0UnixNs: String(t0UnixNs) });
	}

	#listen(): Listen {
		const several = this.#members.length > 1;
		const onTick = (tick: Tick) => this.#second(tick);
		const merged = mergeProgress(this.#members.length, onTick);
		return ({ index }, line) => {
			// A closed load's window ends whenever all is answered.
			if (line?.mqbench === "end" || line?.mqbench === "settled") this.#sampling?.sample();
			if (line === null) merged.gone(index);
			else if (line.mqbench === "tick") {
				this.#crossings[index] = line.crossing ?? null;
				if (several) merged.tick(index, line);
				else onTick(line);
			} else if (line.mqbench === "end") {
				// With several clients, no single client's percentiles are the run's. The report has the run's.
				if (!several) this.#tell(line);
			} else if (line.mqbench === "start") {
				// A T0 that was handed out was already reported, by our clock.
				if (this.#alone) this.#tell(line);
			} else if (line.mqbench === "settled") this.#finishOnceSettled();
		};
	}

	#second(tick: Tick): void {
		this.#tell(tick);
		this.#openOnceSteady(tick);
		const { plan, broker } = this.#options;
		const { kind, warmupNs, durationNs } = plan.schedule;
		// A closed load has no schedule, so there it is a second without a message.
		const allSent = kind === "closed" ? tick.sent === 0 : tick.at * 1e9 > warmupNs + durationNs;
		// With faults it may come back.
		if (broker.gone && plan.faults.length === 0 && allSent) this.#close();
		// The counts can be compared only if they are from the same moment.
		const together = (tick.merged?.silent ?? []).length === 0;
		if (acrossClients(plan) && together) if (this.#hasArrived(this.#crossed())) this.#close();
	}

	/** Counts by which it is known whether everything has arrived; what a catch-up reads, the main load's clients have sent. */
	#crossed(): readonly (Crossing | null)[] {
		if (this.#options.plan.pattern !== CATCH_UP) return this.#crossings;
		const sent = this.#main.#crossings.map((one) => one && { ...one, received: 0 });
		return [...sent, ...this.#crossings];
	}

	/** Opens the window as soon as p50 is level. If it never is, the window opens at the plan's latest time. */
	#openOnceSteady({ at, p50 }: Tick): void {
		const { steady } = this.#options.plan.schedule;
		if (this.#warmUp === null || steady === null) return;
		this.#warmUp[at - 1] = p50;
		const startNs = opensAt(this.#warmUp, steady);
		if (startNs === null) return;
		this.#warmUp = null;
		this.#sayToAll({ openNs: startNs });
		this.#tell({ mqbench: "opens", startNs });
	}

	/** The window's CPU time is exact: between two samples it would be interpolated, although load ends there. */
	#sampleEdges(startNs: number): void {
		for (const atNs of [startNs, startNs + this.#options.plan.schedule.durationNs])
			this.#after(this.#t0Ms + atNs / 1e6 - this.#world.clock.nowMs(), () =>
				this.#sampling?.sample(),
			);
	}

	#tell(line: ProgressEvent): void {
		if (line.mqbench === "start") {
			this.#t0Ms = Number(BigInt(line.t0UnixNs) / 1_000_000n);
			this.#sampleEdges(this.#options.plan.schedule.warmupNs);
		} else if (line.mqbench === "opens") this.#sampleEdges(line.startNs);
		const hopeless = this.#options.onProgress(line);
		if (hopeless === null || this.#stopping) return;
		for (const load of this.#all) load.#abortedBy = hopeless;
		this.#interruptAll();
	}

	#seeOff(member: Member, { code }: Ended, listen: Listen): void {
		if (code !== 0) this.#fail(member, member.endText());
		else if (!this.#begun) this.#fail(member, "k6 ended before the run had begun");
		listen(member, null);
		this.#finishOnceSettled();
	}

	#finishOnceSettled(): void {
		if (this.#alone || !this.#begun) return;
		const members = this.#all.flatMap((load) => load.#members);
		if (members.every((one) => one.settled || one.ended !== null)) void this.#main.#finishAll();
	}

	/** The main load leaves last: others may read its topics, which its client 0 removes. */
	async #finishAll(): Promise<void> {
		const others = this.#all.slice(1);
		for (const load of others) void load.#finish();
		await this.#left(others.flatMap((load) => load.#members));
		await this.#finish();
	}

	async #left(members: readonly Member[]): Promise<void> {
		await Promise.race([
			Promise.all(members.map(({ over }) => over)),
			new Promise<void>((resolve) => {
				this.#after(LEAVE_MS, resolve);
			}),
		]);
	}

	/** Closes all books before any client leaves, because the broker gives the others the messages that a leaving client hands back. */
	#close(): void {
		if (this.#closing || this.#finishing) return;
		this.#closing = true;
		this.#sayToAll({ close: true });
	}

	#sayToAll(line: ControlLine): void {
		for (const { running } of this.#members) running?.say(line);
	}

	/** Makes all clients leave the broker. Client 0 removes the topics, so it leaves last. */
	async #finish(): Promise<void> {
		if (this.#finishing) return;
		this.#finishing = true;
		const [first, ...others] = this.#members as [Member, ...Member[]];
		for (const member of others) member.running?.say({ finish: true });
		await this.#left(others);
		first.running?.say({ finish: true });
	}

	/** The first client that breaks off ends the run, because the remaining load is not the planned one. */
	#fail(member: Member, why: string): void {
		if (this.#stopping) return;
		member.error = why;
		this.#failed = member;
		const name = this.#options.plan.beside?.load;
		const whose = name === undefined ? "the main load" : `the load ${name}`;
		for (const load of this.#all)
			if (load !== this)
				load.#endedBy ??= `${whose} beside it broke off: ${this.#named(member, why)}`;
		this.#interruptAll();
	}

	#interruptAll(): void {
		for (const load of this.#all) load.#interrupt();
	}

	/** Makes all clients close their books and end; ends the rest. */
	#interrupt(): void {
		if (this.#stopping) return;
		this.#stopping = true;
		for (const member of this.#members) member.running?.interrupt();
		this.#after(STOP_MS, () => {
			for (const member of this.#members) member.running?.abandon();
		});
		this.#after(STOP_MS + 2 * GRACE_MS, () => {
			for (const member of this.#members) member.running?.kill();
		});
	}

	#watch(): void {
		const { durationNs, gracefulStopNs } = this.#options.plan.heartbeat;
		// Client 0 and then the others may each take their full time.
		const readyMs = this.#alone ? this.#readyMs : 2 * this.#readyMs;
		const limitMs = readyMs + (durationNs + gracefulStopNs) / 1e6 + HANGS_MS;
		this.#after(limitMs, () => {
			const hung = this.#members.find(({ running }) => running);
			if (hung)
				this.#fail(hung, `k6 did not end within ${Math.round(limitMs / 1000)}s and was killed`);
		});
	}

	#after(ms: number, action: () => void): void {
		this.#timers.add(setTimeout(action, ms));
	}

	#result() {
		const failed = this.#failed ?? this.#members.find(({ error }) => error !== null);
		const { ended } = this.#failed ?? (this.#members[0] as Member);
		const stopped = this.#world.stop.aborted || this.#abortedBy !== null;
		const why = !failed?.error || stopped ? null : this.#named(failed, failed.error);
		const partly = this.#begun && this.#members.length > 1;
		const unwritable = this.#members.flatMap((member) =>
			member.unwritable === null
				? []
				: this.#named(member, `the results could not be written: ${member.unwritable}`),
		);
		const { clocks, note } = clocksOf(this.#members);
		return {
			plan: this.#options.plan,
			/** How k6 ended, with several clients the one that broke off the run. */
			ended: ended ?? { code: null, signal: null },
			/** Why the run could not be made or finished, in k6's words. */
			error: unwritable[0] ?? (partly ? null : why) ?? (stopped ? null : this.#endedBy),
			/** Which of several clients broke off in mid-run, and why: the others then measured another load than the planned one. */
			brokeOff: partly ? why : null,
			abortedBy: this.#abortedBy,
			clients: this.#members.map((member, i) => member.toClientEnd(clocks[i] ?? null)),
			notes: note === null ? [] : [note],
		};
	}

	#named({ label }: Member, what: string): string {
		return this.#alone ? what : `${label}: ${what}`;
	}
}

// --- internal ---

/** A k6 that takes this much longer than the plan allows hangs. */
const HANGS_MS = 30_000;
/** The generator gives up by itself when its set-up time is over. After this much more it never reports. */
const READY_MORE_MS = 30_000;
/** T0 is this far ahead when it is handed out, so lines and first slots arrive in time. Less than START_LEAD_NS of the plan. */
const T0_LEAD_MS = 1000;
/** Clients have this long to leave the broker before client 0 removes the topics. */
const LEAVE_MS = 10_000;
const LEADER_MS = 5000;
/** Clients have this long after an interrupt: a drain of at most 1 s, disconnecting, writing the files. */
const STOP_MS = 30_000;
/** Name of a payload file on hosts that do not have it at its own path. Containers see ours. */
const PAYLOAD = "payload";
const INSIDE_K6 = path.join(packageFolder, "dist", "inside-k6.js");
/** Takes a client's line, or null when the client has ended. */
type Listen = (member: Member, line: ProgressLine | null) => void;
