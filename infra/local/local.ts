import { createWriteStream } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { failure } from "../../runner/errors.ts";
import type { System } from "../../runner/scenario/scenario.ts";
import type { World } from "../../runner/world.ts";
import type { Binaries } from "../binaries/resolve.ts";
import { localBrokers } from "../brokers/index.ts";
import { isAlive } from "../pid.ts";
import {
	bareEnvironment,
	describeEnd,
	type Ended,
	startGuarded,
} from "../process.ts";
import { type Broker, NEVER, type Rig } from "../rig.ts";
import type { LocalBroker, Ready } from "./local-broker.ts";

/** How long a broker may take to come up, and to go down before it is killed. */
const START_MS = 30_000;
const STOP_MS = 5_000;

/** Target local: brokers as processes of this machine, on loopback, their data in a temporary folder. */
export async function localRig(world: World, binaries: Binaries): Promise<Rig> {
	await sweep();
	const open = new Set<Broker>();
	return {
		clients: [{ kind: "local", index: 0 }],
		async open(system, logPath) {
			const kind = localBrokers[system.broker];
			if (!kind) return none();
			const broker = await start(kind, system, logPath, world, binaries);
			open.add(broker);
			return broker;
		},
		async teardown() {
			await Promise.all([...open].map((broker) => broker.close()));
			open.clear();
		},
	};
}

/** A system without a process: nothing to start, nothing to stop. */
export function none(): Broker {
	return {
		url: "",
		version: "",
		binary: null,
		sameHost: true,
		pid: null,
		died: NEVER,
		close: async () => {},
	};
}

// --- internal ---

const PREFIX = "mqbench-";

async function start(
	kind: LocalBroker,
	system: System,
	logPath: string,
	world: World,
	binaries: Binaries,
): Promise<Broker> {
	const store = await mkdtemp(path.join(tmpdir(), `${PREFIX}${process.pid}-`));
	const log = createWriteStream(logPath, { flags: "a" });
	// A full disk must not end the run: the log is a convenience.
	log.on("error", () => {});
	let tail = "";
	let told: (ready: Ready) => void;
	const ready = new Promise<Ready>((resolve) => {
		told = resolve;
	});
	const program = binaries[kind.program];
	const child = startGuarded({
		guard: binaries.guard,
		argv: [program, ...kind.argv({ port: system.port, store })],
		cwd: store,
		env: bareEnvironment(store, world.env),
		graceMs: STOP_MS,
		onStdout(line) {
			const found = kind.ready(line);
			if (found) told(found);
		},
		onStderr(line) {
			tail = `${tail}${line}\n`.slice(-4000);
			log.write(`${line}\n`);
		},
	});
	let closing = false;
	const close = async () => {
		closing = true;
		child.signal("SIGTERM");
		const killer = setTimeout(() => child.abandon(), STOP_MS);
		await child.ended;
		clearTimeout(killer);
		child.abandon();
		await new Promise<void>((resolve) => log.end(resolve));
		await rm(store, { recursive: true, force: true });
	};
	const first = await earliest<Ready | Ended>(world.stop, [ready, child.ended]);
	if (typeof first === "object" && "url" in first)
		return {
			url: first.url,
			version: first.version,
			binary: program,
			sameHost: true,
			pid: first.pid,
			died: child.ended.then((ended) =>
				closing ? NEVER : `the broker ended by itself (${describeEnd(ended)})`,
			),
			close: once(close),
		};
	await close();
	if (first === "stopped")
		throw failure("interrupted", { signal: String(world.stop.reason) });
	if (system.port !== null && kind.portTaken(tail))
		throw failure("port-taken", { system: system.key, port: system.port });
	const words = tail.trim().split("\n").at(-1);
	throw failure("broker-start", {
		system: system.key,
		reason:
			first === "late"
				? `it took no connections within ${START_MS / 1000}s`
				: `${describeEnd(first)}${words ? `, last words: ${words}` : ""}`,
		log: logPath,
	});
}

/** Removes what runs that were killed (kill -9, power) left in the temporary folder. */
async function sweep(): Promise<void> {
	const names = await readdir(tmpdir()).catch(() => []);
	for (const name of names) {
		const pid = /^mqbench-(\d+)-\w{6}$/.exec(name)?.[1];
		if (pid && !isAlive(Number(pid)))
			await rm(path.join(tmpdir(), name), { recursive: true, force: true });
	}
}

/** What happens first: one of the events, the limit, or Ctrl-C. Nothing is left waiting afterwards. */
async function earliest<T>(
	stop: AbortSignal,
	events: readonly Promise<T>[],
): Promise<T | "late" | "stopped"> {
	const over = new AbortController();
	const limit = sleep(START_MS, "late" as const, {
		signal: AbortSignal.any([stop, over.signal]),
	}).catch(() => "stopped" as const);
	try {
		return await Promise.race([...events, limit]);
	} finally {
		over.abort();
	}
}

function once(action: () => Promise<void>): () => Promise<void> {
	let running: Promise<void> | undefined;
	return () => {
		running ??= action();
		return running;
	};
}
