import { copyFile, rm } from "node:fs/promises";
import path from "node:path";
import type { Ended } from "../../infra/process.ts";
import { acrossClients, type Plan, setUpMs } from "../model/plan.ts";
import { isElsewhere } from "../model/run-file.ts";
import { packageFolder } from "../package.ts";
import { maskUrls } from "../secrets.ts";
import type { World } from "../world.ts";
import { type Crossing, makeArrival } from "./arrival.ts";
import { type ClockOffsets, clockOffsetsOf, clocksOf } from "./clocks.ts";
import { GRACE_MS } from "./k6.ts";
import { Member, type ReadyClient, reasonText } from "./member.ts";
import { mergeProgress } from "./merge-progress.ts";
import type { ControlLine, End, Opens, ProgressLine, Tick } from "./progress-line.ts";
import { type Sampling, sampleResources } from "./resources.ts";
import { opensAt } from "./warm-up.ts";

interface FleetOptions {
	/** As many as the plan has, by index. */
	readonly clients: readonly ReadyClient[];
	/** The run's folder, which holds script.js and plan.json and gets the results. */
	readonly folder: string;
	readonly plan: Plan;
	/** URL of the broker, password included. */
	readonly url: string;
	/** Outputs of k6, beside ours. */
	readonly k6Outs: readonly string[];
	/** Processes of the broker, if they are ours: their use of resources is sampled beside that of k6. Asked once a second. */
	brokerPids(): readonly number[];
	/** Nobody will answer any more: when all has been sent, there is nothing to wait for. Asked once a second. */
	brokerGone(): boolean;
	/**
	 * Told of T0 (by our clock), of each second and of the end, of all clients together; an SLA that it returns cannot be met any more:
	 * k6 is stopped.
	 */
	onProgress(line: ProgressEvent): string | null;
}

/** What the clients of a run tell together. */
export type ProgressEvent = Extract<ProgressLine, { mqbench: "start" }> | Tick | Opens | End;

/** How a run ended. */
export type FleetResult = Awaited<ReturnType<Fleet["run"]>>;

/**
 * Makes a run on its clients. One process on this machine begins by itself; several, and those elsewhere, are told when: client 0 makes
 * the topics, then the others come up, and when all are ready T0 is handed out. The first of them that breaks off ends the others: they
 * close their books. So does `world.stop`.
 */
export class Fleet {
	readonly #options: FleetOptions;
	readonly #world: World;
	readonly #members: readonly Member[];
	/** One process on this machine needs nobody to say when. */
	readonly #alone: boolean;
	readonly #crossings: (Crossing | null)[];
	readonly #hasArrived: ReturnType<typeof makeArrival>;
	/** Questions for the leader so far. */
	#questions = 0;
	/** T0 is handed out, or comes by itself. */
	#begun = false;
	/** How; null: it was not. */
	#clockOffsets: ClockOffsets | null = null;
	/** All were told to close their books. */
	#closing = false;
	/** The books of all are closed: they were told to leave. */
	#finishing = false;
	/** All were told to break off: that they end is no failure any more. */
	#stopping = false;
	readonly #timers = new Set<NodeJS.Timeout>();
	readonly #readyMs: number;
	#abortedBy: string | null = null;
	/** Of a warm-up until steady: p50 of each second, ns. null: nothing is to be decided any more. */
	#warmUp: (number | null)[] | null;
	/** The first client that broke off. */
	#failed: Member | null = null;

	constructor(options: FleetOptions, world: World) {
		const { clients, plan } = options;
		this.#options = options;
		this.#world = world;
		this.#members = clients.map((client, i) => new Member(client, i));
		this.#alone = clients.length === 1 && clients[0]?.client.kind === "local";
		this.#crossings = clients.map(() => null);
		this.#hasArrived = makeArrival(plan);
		this.#readyMs = setUpMs(plan) + READY_MORE_MS;
		this.#warmUp = plan.schedule.steady === null ? null : [];
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
			stop.removeEventListener("abort", interrupt);
			for (const timer of this.#timers) clearTimeout(timer);
			await rm(path.join(this.#options.folder, PAYLOAD), { force: true });
		}
		return this.#result();
	}

	/**
	 * What the broker calls the node that leads the first topic at this moment; null: it does not say. Fails with a sentence where nobody
	 * can be asked.
	 */
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

	/** Makes the folders of all, and brings there what they need. */
	async #place(): Promise<void> {
		const { folder, plan } = this.#options;
		const { file } = plan.message;
		const elsewhere = this.#members.filter(({ client }) => isElsewhere(client.kind));
		if (file !== null && elsewhere.length > 0)
			try {
				// Removed again when the run is over: it is the user's own, and may be large.
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

	/** From the first k6 until all have ended: client 0, then the others, then T0. */
	async #conduct(): Promise<void> {
		const listen = this.#listen();
		const [first, ...others] = this.#members as [Member, ...Member[]];
		let sampling: Sampling | null = null;
		try {
			for (const group of [[first], others]) {
				for (const member of group) {
					if (this.#stopping) break;
					this.#start(member, listen);
					sampling ??= this.#sample();
				}
				if (!this.#alone) await Promise.all(group.map((member) => this.#awaitReady(member)));
			}
			if (!this.#stopping) await this.#introduce();
			if (!this.#alone && !this.#stopping) this.#begin();
		} catch (error) {
			// A bug, or CPUs that nobody can have: the others must not be left running.
			this.#interrupt();
			throw error;
		} finally {
			const started = this.#members.filter(({ started }) => started);
			await Promise.all(started.map(({ over }) => over));
			sampling?.stop();
		}
	}

	#start(member: Member, listen: Listen): void {
		const { plan, folder, url, k6Outs } = this.#options;
		const { address } = member.facts;
		member.start(
			{
				plan,
				folder,
				outs: k6Outs,
				env: {
					[plan.urlEnv]: url,
					// Judges the run for them.
					...(this.#alone && k6Outs.length > 0 ? { MQBENCH_RUNNER: INSIDE_K6 } : {}),
					...(this.#alone ? { MQBENCH_CONTROL: "1" } : { MQBENCH_COORDINATED: "1" }),
					...(address === undefined ? {} : { MQBENCH_LISTEN: address }),
					...(plan.message.file !== null && isElsewhere(member.client.kind)
						? { MQBENCH_PAYLOAD_FILE: PAYLOAD }
						: {}),
				},
				onProgress: (line) => listen(member, line),
			},
			this.#world,
		);
		if (this.#alone) this.#begun = true;
		if (member.index === 0) this.#watch();
		void member.over.then((ended) => this.#seeOff(member, ended, listen));
		// Subtle: who said stop meanwhile has not met this one.
		if (this.#stopping) member.running?.interrupt();
	}

	/** Processes of this machine, and what they use. */
	#sample(): Sampling {
		const { folder, brokerPids } = this.#options;
		// Of all, when all are here: some of them would be taken for the whole.
		const here = this.#members.every(({ client }) => client.kind === "local");
		return sampleResources(
			path.join(folder, "resources.jsonl"),
			() => ({
				generatorPids: here ? this.#members.flatMap(({ pid }) => pid ?? []) : [],
				brokerPids: brokerPids(),
			}),
			() => this.#world.clock.nowMs(),
		);
	}

	/** Waits until the client is ready; one that does not say so has failed. */
	async #awaitReady(member: Member): Promise<void> {
		if (!member.started || (await member.hears("ready", this.#readyMs))) return;
		// One that has ended says itself why.
		if (member.ended !== null) return;
		const words = member.running?.complaint();
		const limit = `${this.#readyMs / 1000}s`;
		this.#fail(member, `it was not ready within ${limit}${words ? `: ${words}` : ""}`);
	}

	/** Without a server clients are connected to each other: each is told where the others' subscriptions are. */
	async #introduce(): Promise<void> {
		if (this.#members.every(({ endpoints }) => endpoints.length === 0)) return;
		await Promise.all(
			this.#members.map(async (member) => {
				const others = this.#members.filter((other) => other !== member);
				const why = await member.meet(
					others.flatMap(({ endpoints }) => endpoints),
					this.#readyMs,
				);
				if (why !== null) this.#fail(member, maskUrls(why));
			}),
		);
	}

	/** Hands T0 out: the same moment for all, by each one's own clock. */
	#begin(): void {
		this.#begun = true;
		const clockOffsets = clockOffsetsOf(this.#members);
		this.#clockOffsets = clockOffsets;
		const t0Ms = Math.ceil(this.#world.clock.nowMs()) + T0_LEAD_MS;
		const t0UnixNs = BigInt(t0Ms) * 1_000_000n;
		for (const { running, index } of this.#members) {
			const aheadNs = BigInt(clockOffsets.offsetsNs[index] ?? 0);
			running?.say({ t0UnixNs: String(t0UnixNs + aheadNs) });
		}
		this.#tell({ mqbench: "start", t0UnixNs: String(t0UnixNs) });
	}

	/** What is done with the lines of clients: one client's are those of all. */
	#listen(): Listen {
		const several = this.#members.length > 1;
		const onTick = (tick: Tick) => this.#second(tick);
		const onEnd = (end: End) => this.#tell(end);
		const merged = mergeProgress(this.#members.length, onTick, onEnd);
		return ({ index }, line) => {
			if (line === null) merged.gone(index);
			else if (line.mqbench === "tick") {
				this.#crossings[index] = line.crossing ?? null;
				if (several) merged.tick(index, line);
				else onTick(line);
			} else if (line.mqbench === "end") {
				if (several) merged.end(index, line);
				else onEnd(line);
			} else if (line.mqbench === "start") {
				// A T0 that was handed out has been told already, by our clock.
				if (this.#alone) this.#tell(line);
			} else if (line.mqbench === "settled") this.#finishOnceSettled();
		};
	}

	/** A second of all clients. */
	#second(tick: Tick): void {
		this.#tell(tick);
		this.#openOnceSteady(tick);
		const { plan, brokerGone } = this.#options;
		if (brokerGone() && isSent(plan, tick)) this.#close();
		// Counts of different moments cannot be compared.
		const together = (tick.merged?.silent ?? []).length === 0;
		if (acrossClients(plan) && together) if (this.#hasArrived(this.#crossings)) this.#close();
	}

	/** Names the second in which the window opens, as soon as p50 is level; unsaid, it opens at the latest time of the plan. */
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

	#tell(line: ProgressEvent): void {
		const hopeless = this.#options.onProgress(line);
		if (hopeless === null || this.#stopping) return;
		this.#abortedBy = hopeless;
		this.#interrupt();
	}

	/** A client's k6 has ended: was it to? */
	#seeOff(member: Member, { code }: Ended, listen: Listen): void {
		if (code !== 0) this.#fail(member, member.endText());
		else if (!this.#begun) this.#fail(member, "k6 ended before the run had begun");
		listen(member, null);
		this.#finishOnceSettled();
	}

	#finishOnceSettled(): void {
		if (this.#alone || !this.#begun) return;
		if (this.#members.every((one) => one.settled || one.ended !== null)) void this.#finish();
	}

	/** All close their books, before any of them leaves: what that hands back to the broker reaches the others. */
	#close(): void {
		if (this.#closing || this.#finishing) return;
		this.#closing = true;
		this.#sayToAll({ close: true });
	}

	#sayToAll(line: ControlLine): void {
		for (const { running } of this.#members) running?.say(line);
	}

	/** All leave the broker; client 0, which takes the topics away, when the others have. */
	async #finish(): Promise<void> {
		if (this.#finishing) return;
		this.#finishing = true;
		const [first, ...others] = this.#members as [Member, ...Member[]];
		for (const member of others) member.running?.say({ finish: true });
		await Promise.race([
			Promise.all(others.map(({ over }) => over)),
			new Promise<void>((resolve) => {
				this.#after(LEAVE_MS, resolve);
			}),
		]);
		first.running?.say({ finish: true });
	}

	/** The first client that breaks off ends the run: what is left of its load is not the one that was planned. */
	#fail(member: Member, why: string): void {
		if (this.#stopping) return;
		member.error = why;
		this.#failed = member;
		this.#interrupt();
	}

	/** All break off: they close their books and end. Who does not is ended. */
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

	/** Ends what hangs. */
	#watch(): void {
		const { durationNs, gracefulStopNs } = this.#options.plan.heartbeat;
		// Client 0 and the others may take their time, one after the other.
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
		const { clocks, note } = clocksOf(
			this.#members,
			this.#clockOffsets ?? clockOffsetsOf(this.#members),
		);
		return {
			/** Of k6; of several that of the client because of which the run broke off. */
			ended: ended ?? { code: null, signal: null },
			/** Why the run could not be made or finished, in k6's words; null: it was. */
			error: unwritable[0] ?? (partly ? null : why),
			/** Which of several clients broke off in mid-run, and why: what the others have measured is not the load that was asked for. */
			brokeOff: partly ? why : null,
			/** The SLA because of which it was stopped. */
			abortedBy: this.#abortedBy,
			clients: this.#members.map((member, i) => member.toClientEnd(clocks[i] ?? null)),
			/** Facts that a reader of the report has to know. */
			notes: note === null ? [] : [note],
		};
	}

	/** What is said of the only process of this machine needs no name. */
	#named({ label }: Member, what: string): string {
		return this.#alone ? what : `${label}: ${what}`;
	}
}

// --- internal ---

/** k6 has this long beyond everything that the plan allows it; then it hangs and is ended. */
const HANGS_MS = 30_000;
/** The generator gives up by itself when its time for setting up is over; who says nothing this much later never will. */
const READY_MORE_MS = 30_000;
/** T0 lies this much after it is handed out: lines and first slots have to get there. Less than START_LEAD_NS of the plan. */
const T0_LEAD_MS = 1000;
/** Clients have this long to leave the broker before client 0 takes the topics away. */
const LEAVE_MS = 10_000;
const LEADER_MS = 5000;
/** Whoever was told to break off has this long: a drain of at most 1 s, the broker's connections, the files. */
const STOP_MS = 30_000;
/** A payload file, beside plan.json on hosts that do not have it at its own path; containers see ours. */
const PAYLOAD = "payload";

/** Of runner/inside-k6. */
const INSIDE_K6 = path.join(packageFolder, "dist", "inside-k6.js");

/** Takes what a client says; null: it has ended. */
type Listen = (member: Member, line: ProgressLine | null) => void;

/** Is the schedule over? A closed load has none: nothing goes on any more. */
function isSent({ schedule }: Plan, { at, sent }: Tick): boolean {
	return schedule.kind === "closed"
		? sent === 0
		: at * 1e9 > schedule.warmupNs + schedule.durationNs;
}
