import type { World } from "../../runner/world.ts";
import { type Flush, parseFlush } from "../docker/flush.ts";
import type { Binaries } from "../programs/resolve.ts";
import type { ClockReading } from "../rig.ts";
import { type Bundle, bundleOf, push } from "./bundle.ts";
import { askClock } from "./clock.ts";
import { askFacts, type Facts } from "./facts.ts";
import { sweepFolders } from "./folders.ts";
import type { RemoteHost } from "./host.ts";
import type { Link } from "./link.ts";

/** A machine, or a pod, connected and prepared: every program there runs behind agent. */
export interface RemoteMachine {
	readonly remote: RemoteHost;
	/** "bench@10.0.0.5". */
	readonly name: string;
	readonly link: Link;
	readonly facts: Facts;
	/** Programs for its system and processor, on this machine. */
	readonly binaries: Binaries;
	/** Path of agent there. */
	readonly agent: string;
	/** Its clock compared with ours, when it was connected. */
	readonly clock: ClockReading;
	/** How long a flush takes on the disk of a folder there; measured once. null if it cannot be measured. */
	flush(folder: string): Promise<Flush | null>;
	/** Copies a program or a folder of this machine there once, and returns its path there. */
	put(name: string, from: string): Promise<string>;
}

export interface MachineOptions {
	readonly world: World;
	readonly binaries: Pick<Binaries, "k6" | "agent" | "on">;
	/** Called with a line for people when something takes long. */
	say(line: string): void;
	/** A file or folder of this machine, read once for several machines. */
	bundle?(name: string, from: string): Promise<Bundle>;
}

/** Connects to a machine and prepares it. Leaves no connection if it fails. */
export async function connectMachine(
	remote: RemoteHost,
	options: MachineOptions,
	stop: AbortSignal,
): Promise<RemoteMachine> {
	const { world, say, binaries } = options;
	const link = await remote.connect({ agent: binaries.agent, world, say }, stop, true);
	const close = () => void link.close();
	// Whatever is running there ends with the connection.
	stop.addEventListener("abort", close, { once: true });
	try {
		return await machineOver(remote, link, options);
	} catch (error) {
		await link.close();
		throw error;
	} finally {
		stop.removeEventListener("abort", close);
	}
}

/** Asks a connected machine for its facts, brings agent there, compares the clocks, and removes leftovers of killed mqbench processes. */
export async function machineOver(
	remote: RemoteHost,
	link: Link,
	{ world: { stop }, say, binaries: all, bundle = bundleOf }: MachineOptions,
): Promise<RemoteMachine> {
	const facts = await askFacts(remote, link);
	const binaries = await all.on(facts.platform, remote.name);
	const brought = new Map<string, Promise<string>>();
	const put = (name: string, from: string) => {
		const path =
			brought.get(from) ?? bundle(name, from).then((one) => push(remote, link, one, { say, stop }));
		brought.set(from, path);
		path.catch(() => brought.delete(from));
		return path;
	};
	const agent = await put("agent", binaries.agent);
	const clock = await askClock(remote, link, agent);
	await sweepFolders(link);
	let flushed: Promise<Flush | null> | null = null;
	return {
		remote,
		name: remote.name,
		link,
		facts,
		binaries,
		agent,
		clock,
		flush(folder) {
			// A value that cannot be measured is unknown; measure the rest anyway.
			flushed ??= link
				.run('"$1" disk "$2" </dev/null', [agent, folder])
				.then(({ out }) => parseFlush(out));
			return flushed;
		},
		put,
	};
}
