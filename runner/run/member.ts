import { EventEmitter } from "node:events";
import { describeEnd, type Ended } from "../../infra/process.ts";
import type { Client, ClientFacts, ClockReading, Workspace } from "../../infra/rig.ts";
import { MqbenchError } from "../errors.ts";
import type { ClientEnd } from "../model/run-file.ts";
import { reasonOf } from "../reason.ts";
import { maskUrls } from "../secrets.ts";
import type { World } from "../world.ts";
import { type K6, type K6Options, startK6 } from "./k6.ts";
import type { Endpoint, ProgressLine } from "./progress-line.ts";

export interface ReadyClient {
	readonly client: Client;
	readonly facts: ClientFacts;
}

/** One client of a run, from its folder until its results have arrived. */
export class Member {
	readonly index: number;
	/** "client 2 (bench@10.0.0.12)". */
	readonly label: string;
	ended: Ended | null = null;
	/** Why it is missing or broke off. */
	error: string | null = null;
	unwritable: string | null = null;
	/** Resolves when its k6 has ended. Never rejects. */
	over: Promise<Ended> = new Promise(() => {});
	readonly client: Client;
	readonly facts: ClientFacts;
	/** Its clock before and after the run, null if it is ours or could not be read. */
	before: ClockReading | null = null;
	after: ClockReading | null = null;
	readonly #heard = new Map<string, ProgressLine>();
	readonly #lines = new EventEmitter();
	#workspace: Workspace | null = null;
	#k6: K6 | null = null;

	constructor({ client, facts }: ReadyClient, index: number) {
		this.client = client;
		this.facts = facts;
		this.index = index;
		this.label = `client ${index} (${client.name})`;
	}

	/** The process on this machine whose resources are sampled for the client. */
	get pid(): number | null {
		return this.#k6?.pid ?? null;
	}

	get started(): boolean {
		return this.#k6 !== null;
	}

	get running(): K6 | null {
		return this.ended === null ? this.#k6 : null;
	}

	get settled(): boolean {
		return this.#first("settled") !== null;
	}

	get endpoints(): readonly Endpoint[] {
		return this.#first("ready")?.endpoints ?? [];
	}

	async place(folder: string, files: readonly string[]): Promise<void> {
		const { client } = this;
		this.#workspace = await client.workspace(folder);
		for (const file of files) await this.#workspace.put(file);
		if (!client.sameClock) this.before = await client.clock();
	}

	start(options: Omit<K6Options, "workspace" | "index">, world: World): void {
		if (this.#workspace === null) throw new Error("it has no place yet");
		const onProgress = (line: ProgressLine) => {
			this.#note(line);
			options.onProgress(line);
		};
		const { index } = this;
		const k6 = startK6({ ...options, workspace: this.#workspace, index, onProgress }, world);
		this.#k6 = k6;
		this.over = k6.ended.then((ended) => {
			k6.abandon();
			this.ended = ended;
			return ended;
		});
	}

	/** Its first line of a kind (an answer: to question `id`), or null if it ends, or `ms` pass, without one. */
	hears<Kind extends ProgressLine["mqbench"]>(
		kind: Kind,
		ms: number,
		id?: number,
	): Promise<LineOf<Kind> | null> {
		return new Promise((resolve) => {
			const timer = setTimeout(resolve, ms, null);
			const heard = (line: LineOf<Kind> | null) => {
				clearTimeout(timer);
				resolve(line);
			};
			const before = this.#first(kind, id);
			if (before !== null) heard(before);
			else this.#lines.once(keyOf(kind, id), heard);
			void this.over.then(() => heard(null));
		});
	}

	/** Connects it to the subscriptions of others. Returns why that failed, or null if it is connected or has ended. */
	async meet(peers: readonly Endpoint[], ms: number): Promise<string | null> {
		this.running?.say({ peers });
		const met = await this.hears("met", ms);
		if (met !== null) return met.error ?? null;
		return this.running
			? `it was not connected to the other clients within ${Math.round(ms / 1000)}s`
			: null;
	}

	/** How k6 ended: "k6 ended with exit code 107: connection refused". */
	endText(): string {
		const { code, signal, why }: Ended = this.ended ?? { code: null, signal: null };
		const complaint = why ?? this.#k6?.complaint() ?? null;
		if (code === null && signal === null)
			return `the connection to it was lost${why !== undefined ? `: ${why}` : complaint === null ? "" : `, last words: ${complaint}`}`;
		return `k6 ended with ${describeEnd({ code, signal })}: ${complaint ?? "it said nothing"}`;
	}

	/** Fetches its results and reads its clock again. Failures become this client's error and are never thrown. */
	async collect(): Promise<void> {
		const workspace = this.#workspace;
		if (workspace === null) return;
		if (this.started)
			await this.#attempt("its results could not be fetched", async () => {
				for (const kind of RESULTS) {
					const name = `client-${this.index}.${kind}`;
					// A k6 that broke off has left `.part`, with as much as it had written.
					if (!(await workspace.fetch(name))) await workspace.fetch(`${name}.part`);
				}
			});
		if (this.before !== null)
			await this.#attempt("its clock could not be read after the run", async () => {
				this.after = await this.client.clock();
			});
		// Files that stay behind do not harm this run, and `close` tries again.
		await workspace.remove().catch(() => {});
	}

	toClientEnd(clock: ClientEnd["clock"]): ClientEnd {
		const { client, facts } = this;
		return {
			index: this.index,
			name: client.name,
			kind: client.kind,
			machine: facts.machine,
			k6Exit: this.ended?.code ?? null,
			k6Signal: this.ended?.signal ?? null,
			firstClaimNs: this.#first("start")?.firstClaimNs ?? null,
			clock,
			error: this.error,
		};
	}

	#first<Kind extends ProgressLine["mqbench"]>(kind: Kind, id?: number): LineOf<Kind> | null {
		return (this.#heard.get(keyOf(kind, id)) ?? null) as LineOf<Kind> | null;
	}

	#note(line: ProgressLine): void {
		const key = keyOf(line.mqbench, line.mqbench === "leader" ? line.id : undefined);
		if (!this.#heard.has(key)) this.#heard.set(key, line);
		this.#lines.emit(key, line);
		if (line.mqbench === "tick" && line.error) this.unwritable = line.error;
	}

	async #attempt(what: string, action: () => Promise<void>): Promise<void> {
		try {
			await action();
		} catch (error) {
			this.error ??= reasonText(`${what}: `, error, this.client.name);
		}
	}
}

/** `error` as (the end of) a sentence, without passwords and without the client's `name`, which precedes it. */
export function reasonText(begin: string, error: unknown, name?: string): string {
	if (error instanceof MqbenchError) {
		const text = maskUrls(error.message);
		return name !== undefined && text.startsWith(`${name}: `) ? text.slice(name.length + 2) : text;
	}
	if (!(error instanceof Error)) throw error;
	return maskUrls(`${begin}${reasonOf(error)}`);
}

// --- internal ---

type LineOf<Kind> = Extract<ProgressLine, { mqbench: Kind }>;

function keyOf(kind: string, id = 0): string {
	return `${kind} ${id}`;
}

/** Endings of `client-<i>` files to fetch. Its log is written here. */
const RESULTS = ["hlog", "jsonl", "ledger"];
