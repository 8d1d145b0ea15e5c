import { writeFileSync } from "node:fs";
import path from "node:path";
import type { Ended } from "../../infra/process.ts";
import type { Client, ClientCommand, ClockReading } from "../../infra/rig.ts";
import type { ReadyClient } from "./member.ts";
import type { ControlLine, End, ProgressLine, Tick } from "./progress-line.ts";

/** For tests: a second of a generator. */
export const tickOf = (parts: Partial<Tick> = {}): Tick => ({
	mqbench: "tick",
	at: 1,
	sent: 100,
	received: 100,
	acked: null,
	failed: 0,
	duplicated: 0,
	over: [],
	p50: 60_000,
	p99: 1_500_000,
	metric: "response",
	window: null,
	...parts,
});

/** For tests: the end of a generator. */
export const endOf = (parts: Partial<End> = {}): End => ({
	mqbench: "end",
	state: "complete",
	metric: "response",
	window: null,
	...parts,
});

/** For tests: a client whose k6 says and does what the test tells it. */
export interface FakeClient {
	readonly ready: ReadyClient;
	/** What happened to it, in order: "put plan.json", "start", "say {...}", "SIGINT", "fetch client-0.hlog", "remove". */
	readonly log: string[];
	/** What was said to its k6. */
	readonly said: ControlLine[];
	/** How its k6 was started; null: it was not. */
	command(): ClientCommand | null;
	/** Its k6 prints a line. */
	tell(line: ProgressLine): void;
	/** Its k6 logs an error. */
	complain(message: string): void;
	/** Its k6 ends; null: the connection to it is gone. */
	end(code: number | null, signal?: string): void;
}

export interface FakeOptions {
	readonly kind?: Client["kind"];
	readonly name?: string;
	/** null: its clock is ours. Each reading in turn, the last one again and again. */
	readonly clock?: readonly ClockReading[] | null;
	/** At which other clients reach it. */
	readonly address?: string;
	/** What becomes of the steps whose name begins so ("put", "fetch", "clock", "start"): it throws that. */
	readonly fails?: Readonly<Record<string, Error>>;
	/** Files that its k6 leaves. */
	readonly leaves?: readonly string[];
	/** What its k6 does. Default: nothing by itself. */
	readonly generator?: Partial<Generator>;
}

/** Told to k6, so that a test's generator can answer. */
export interface Generator {
	started(self: FakeClient): void;
	said(line: ControlLine, self: FakeClient): void;
	interrupted(self: FakeClient): void;
}

/**
 * A generator that does what it should: it is ready at once, begins when it is told T0, settles when it is told to close, and ends when
 * it may.
 */
export const obedient: Generator = {
	started: (self) => self.tell({ mqbench: "ready" }),
	said(line, self) {
		if ("t0UnixNs" in line) self.tell({ mqbench: "start", ...line, firstClaimNs: -5e8 });
		if ("close" in line) self.tell({ mqbench: "settled" });
		if (!("finish" in line)) return;
		self.tell(endOf());
		self.end(0);
	},
	interrupted(self) {
		self.tell(endOf({ state: "interrupted" }));
		self.end(105);
	},
};

export function fakeClient(index: number, options: FakeOptions = {}): FakeClient {
	const { kind = "local", clock = null, fails = {}, leaves = [] } = options;
	const { generator = {} } = options;
	const log: string[] = [];
	const said: ControlLine[] = [];
	const readings = [...(clock ?? [])];
	let command: ClientCommand | null = null;
	let tellEnd: (ended: Ended) => void = () => {};
	const ended = new Promise<Ended>((resolve) => {
		tellEnd = resolve;
	});
	const step = (what: string) => {
		log.push(what);
		const failing = Object.keys(fails).find((name) => what.startsWith(name));
		if (failing !== undefined) throw fails[failing];
	};
	const client: Client = {
		index,
		name: options.name ?? `process ${index}`,
		kind,
		sameClock: clock === null,
		prepare: async () => ({ machine: "a machine", cores: 2, kernel: "6.1" }),
		async clock() {
			step("clock");
			const reading = readings.length > 1 ? readings.shift() : readings[0];
			if (!reading) throw new Error("nobody asks a client with our clock");
			return reading;
		},
		async workspace(local) {
			return {
				put: async (name) => step(`put ${name}`),
				start(given) {
					step("start");
					command = given;
					queueMicrotask(() => generator.started?.(self));
					return {
						pid: kind === "local" ? 1_000_000 + index : null,
						ended,
						say(text) {
							log.push(`say ${text}`);
							const line = JSON.parse(text) as ControlLine;
							said.push(line);
							queueMicrotask(() => generator.said?.(line, self));
						},
						signal(name) {
							log.push(name);
							queueMicrotask(() => generator.interrupted?.(self));
						},
						abandon: () => void log.push("abandon"),
						kill() {
							log.push("kill");
							self.end(null, "SIGKILL");
						},
					};
				},
				async fetch(name) {
					step(`fetch ${name}`);
					if (!leaves.includes(name)) return false;
					writeFileSync(path.join(local, name), "");
					return true;
				},
				async remove() {
					step("remove");
				},
			};
		},
		async close() {},
	};
	const self: FakeClient = {
		ready: {
			client,
			facts: {
				machine: "a machine",
				cores: 2,
				kernel: "6.1",
				...(options.address === undefined ? {} : { address: options.address }),
			},
		},
		log,
		said,
		command: () => command,
		tell: (line) => command?.onStdout(JSON.stringify(line)),
		complain: (message) => command?.onStderr(`time="x" level=error msg="${message}"`),
		end: (code, signal) => tellEnd({ code, signal: signal ?? null }),
	};
	return self;
}
