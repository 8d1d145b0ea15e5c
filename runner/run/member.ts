import { describeEnd, type Ended } from "../../infra/process.ts";
import type { Client, ClientFacts, ClockReading, Workspace } from "../../infra/rig.ts";
import { MqbenchError } from "../errors.ts";
import type { ClientEnd } from "../model/run-file.ts";
import { reasonOf } from "../reason.ts";
import { maskUrls } from "../secrets.ts";
import type { World } from "../world.ts";
import { t0By } from "./clocks.ts";
import { type K6, type K6Options, startK6 } from "./k6.ts";
import type { ControlLine, Endpoint, ProgressLine } from "./progress-line.ts";

/** A client that has been reached, and what it said of itself. */
export interface ReadyClient {
	readonly client: Client;
	readonly facts: ClientFacts;
}

/** One client of a run, from its folder until its results are here. */
export class Member {
	readonly index: number;
	/** "client 2 (bench@10.0.0.12)". */
	readonly label: string;
	/** It has said that all of its own messages are settled. */
	settled = false;
	/** How its k6 ended; null: it has not, or never began. */
	ended: Ended | null = null;
	/** Where others reach its subscriptions, of a system without a server. */
	endpoints: readonly Endpoint[] = [];
	/** Why it is missing or broke off; null: nothing of that kind. */
	error: string | null = null;
	/** What its results cannot be written for; null: they can. */
	unwritable: string | null = null;
	/** Resolves when its k6 has ended. */
	readonly over: Promise<Ended>;
	readonly #ready: ReadyClient;
	readonly #isReady: Promise<void>;
	#tellReady = () => {};
	readonly #hasMet: Promise<string | null>;
	#tellMet: (error: string | null) => void = () => {};
	#tellOver: (ended: Ended) => void = () => {};
	#workspace: Workspace | null = null;
	#k6: K6 | null = null;
	#clock: ClockReading | null = null;
	#clockAfter: ClockReading | null = null;
	#firstClaimNs: number | null = null;

	constructor(ready: ReadyClient, index: number) {
		this.#ready = ready;
		this.index = index;
		this.label = `client ${index} (${this.name})`;
		this.#isReady = new Promise((resolve) => {
			this.#tellReady = resolve;
		});
		this.#hasMet = new Promise((resolve) => {
			this.#tellMet = resolve;
		});
		this.over = new Promise((resolve) => {
			this.#tellOver = resolve;
		});
	}

	get name(): string {
		return this.#ready.client.name;
	}

	get kind(): Client["kind"] {
		return this.#ready.client.kind;
	}

	/** Process here whose use of resources is that of the client; null: there is none. */
	get pid(): number | null {
		return this.#k6?.pid ?? null;
	}

	get started(): boolean {
		return this.#k6 !== null;
	}

	get running(): boolean {
		return this.#k6 !== null && this.ended === null;
	}

	/** Makes its folder, brings what it needs there, and asks for the time, all of which a process of this machine has. */
	async place(folder: string, files: readonly string[]): Promise<void> {
		const { client } = this.#ready;
		this.#workspace = await client.workspace(folder);
		for (const file of files) await this.#workspace.put(file);
		if (!client.sameClock) this.#clock = await client.clock();
	}

	/** Starts k6. */
	start(options: Omit<K6Options, "workspace" | "index">, world: World): void {
		if (this.#workspace === null) throw new Error("it has no place yet");
		const k6 = startK6(
			{
				...options,
				workspace: this.#workspace,
				index: this.index,
				onProgress: (line) => {
					this.#note(line);
					options.onProgress(line);
				},
			},
			world,
		);
		this.#k6 = k6;
		void k6.ended.then((ended) => {
			k6.abandon();
			this.ended = ended;
			this.#tellOver(ended);
		});
	}

	/** Is it ready? Waits until it says so, has ended, or `ms` are over. */
	async isReady(ms: number): Promise<boolean> {
		return (await this.#within(ms, this.#isReady)) !== NOT_SAID;
	}

	/** Connects it to the subscriptions of others, and returns why that failed; null: it is connected, or has ended. */
	async meet(peers: readonly Endpoint[], ms: number): Promise<string | null> {
		this.say({ peers });
		const said = await this.#within(ms, this.#hasMet);
		if (said !== NOT_SAID) return said;
		return this.running
			? `it was not connected to the other clients within ${Math.round(ms / 1000)}s`
			: null;
	}

	/** The address at which others reach its machine; null: they are on the same one. */
	get address(): string | null {
		return this.#ready.facts.address ?? null;
	}

	/** Hands T0 out, by its own clock, which is taken to be ahead of ours by `offsetNs`. */
	begin(t0UnixNs: bigint, offsetNs: number): void {
		this.say({ t0UnixNs: String(t0By(offsetNs, t0UnixNs)) });
	}

	say(line: ControlLine): void {
		if (this.running) this.#k6?.say(line);
	}

	interrupt(): void {
		if (this.running) this.#k6?.interrupt();
	}

	abandon(): void {
		if (this.running) this.#k6?.abandon();
	}

	kill(): void {
		if (this.running) this.#k6?.kill();
	}

	/** How k6 ended, as a sentence: "k6 ended with exit code 107: connection refused". */
	endText(): string {
		const { code, signal, why }: Ended = this.ended ?? { code: null, signal: null };
		const complaint = why ?? this.#k6?.complaint() ?? null;
		if (code === null && signal === null)
			return `the connection to it was lost${why !== undefined ? `: ${why}` : complaint === null ? "" : `, last words: ${complaint}`}`;
		return `k6 ended with ${describeEnd({ code, signal })}: ${complaint ?? "it said nothing"}`;
	}

	/** The last that k6 complained of; null: of nothing. */
	complaint(): string | null {
		return this.#k6?.complaint() ?? null;
	}

	/** Brings its results here, and asks for the time once more. What cannot be had is an error of this client, never thrown. */
	async collect(): Promise<void> {
		const workspace = this.#workspace;
		if (workspace === null) return;
		if (this.started)
			await this.#attempt("its results could not be fetched", async () => {
				for (const name of RESULTS) await fetchOne(workspace, this.index, name);
			});
		const { client } = this.#ready;
		if (this.#clock !== null)
			await this.#attempt("its clock could not be read after the run", async () => {
				this.#clockAfter = await client.clock();
			});
		// What stays there is no harm to this run: `close` tries again.
		await workspace.remove().catch(() => {});
	}

	/** Its clock before the run; null: it is ours, or nobody could ask. */
	get before(): ClockReading | null {
		return this.#clock;
	}

	/** The same after the run. */
	get after(): ClockReading | null {
		return this.#clockAfter;
	}

	toClientEnd(clock: ClientEnd["clock"]): ClientEnd {
		const { client, facts } = this.#ready;
		return {
			index: this.index,
			name: client.name,
			kind: client.kind,
			machine: facts.machine,
			k6Exit: this.ended?.code ?? null,
			k6Signal: this.ended?.signal ?? null,
			firstClaimNs: this.#firstClaimNs,
			clock,
			error: this.error,
		};
	}

	/** What it says, unless it has ended or `ms` are over before. */
	async #within<Said>(ms: number, said: Promise<Said>): Promise<Said | typeof NOT_SAID> {
		let timer: NodeJS.Timeout | undefined;
		try {
			return await Promise.race([
				said,
				this.over.then((): typeof NOT_SAID => NOT_SAID),
				new Promise<typeof NOT_SAID>((resolve) => {
					timer = setTimeout(() => resolve(NOT_SAID), ms);
				}),
			]);
		} finally {
			clearTimeout(timer);
		}
	}

	#note(line: ProgressLine): void {
		if (line.mqbench === "ready") {
			this.endpoints = line.endpoints ?? [];
			this.#tellReady();
		}
		if (line.mqbench === "met") this.#tellMet(line.error ?? null);
		if (line.mqbench === "settled") this.settled = true;
		if (line.mqbench === "start") this.#firstClaimNs = line.firstClaimNs ?? null;
		if (line.mqbench === "tick" && line.error) this.unwritable = line.error;
	}

	async #attempt(what: string, action: () => Promise<void>): Promise<void> {
		try {
			await action();
		} catch (error) {
			this.error ??= reasonText(`${what}: `, error, this.name);
		}
	}
}

/** `error` as (the end of) a sentence, without passwords and without the `name` of the client, which is told before it. */
export function reasonText(begin: string, error: unknown, name?: string): string {
	if (error instanceof MqbenchError) {
		const text = maskUrls(error.message);
		return name !== undefined && text.startsWith(`${name}: `) ? text.slice(name.length + 2) : text;
	}
	if (!(error instanceof Error)) throw error;
	return maskUrls(`${begin}${reasonOf(error)}`);
}

// --- internal ---

const NOT_SAID = Symbol("not said");

/** Of each client, `client-<i>` before it. Its log is written here. */
const RESULTS = ["hlog", "jsonl", "ledger"] as const;

/** A k6 that broke off has left `.part`: as much as it had written. */
async function fetchOne(
	workspace: Workspace,
	index: number,
	kind: (typeof RESULTS)[number],
): Promise<void> {
	const name = `client-${index}.${kind}`;
	if (!(await workspace.fetch(name))) await workspace.fetch(`${name}.part`);
}
