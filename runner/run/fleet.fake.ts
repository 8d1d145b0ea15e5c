import { writeFileSync } from "node:fs";
import path from "node:path";
import type { Ended } from "../../infra/process.ts";
import type { Client, ClientCommand, ClockReading } from "../../infra/rig.ts";
import type { ReadyClient } from "./member.ts";
import type { ControlLine, End, ProgressLine, Tick } from "./progress-line.ts";

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

export const endOf = (parts: Partial<End> = {}): End => ({
	mqbench: "end",
	state: "complete",
	metric: "response",
	window: null,
	...parts,
});

/** A client whose k6 follows the test's orders. */
export interface FakeClient {
	readonly ready: ReadyClient;
	/** "put plan.json", "start", "say {...}", "SIGINT", "fetch client-0.hlog", "remove" */
	readonly log: string[];
	readonly said: ControlLine[];
	command(): ClientCommand | null;
	tell(line: ProgressLine): void;
	complain(message: string): void;
	/** Null if the connection is lost. */
	end(code: number | null, signal?: string): void;
}

export interface FakeOptions {
	readonly kind?: Client["kind"];
	readonly name?: string;
	/** Readings in turn, then the last one again; null for our own clock. */
	readonly clock?: readonly ClockReading[] | null;
	readonly address?: string;
	/** Errors of steps by the beginning of their names ("put", "fetch", "clock", "start"). */
	readonly fails?: Readonly<Record<string, Error>>;
	readonly leaves?: readonly string[];
	readonly generator?: Partial<Generator>;
}

export interface Generator {
	started(self: FakeClient): void;
	said(line: ControlLine, self: FakeClient): void;
	interrupted(self: FakeClient): void;
}

/** Is ready at once, begins at T0, settles at "close", and ends at "finish". */
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
