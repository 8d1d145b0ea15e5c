import type { Tools } from "../../runner/brokers/process.ts";
import type { World } from "../../runner/world.ts";
import { toolsOf } from "../local/tools.ts";
import { type Bundle, bundleOf } from "../machines/bundle.ts";
import type { RemoteHost } from "../machines/host.ts";
import { connectMachine, type RemoteMachine } from "../machines/machine.ts";
import type { Binaries } from "../programs/resolve.ts";
import type { SshHost } from "../ssh/host.ts";
import { overSsh } from "../ssh/set-up.ts";

/** Hosts by their ssh address, and the settings shared by all of a command's hosts. */
export interface Connections {
	/** Tools of this machine, for a broker that runs on the platform of those programs. */
	tools(built: Binaries): Tools;
	get(ssh: SshHost): Promise<RemoteMachine>;
	/** To a machine that is used once, which the caller disconnects. */
	connect(remote: RemoteHost): Promise<RemoteMachine>;
	/** A line for people, without its end. */
	say(line: string): void;
	/** Prints a warning once. */
	warn(text: string): void;
	close(): Promise<void>;
}

export function connections(world: World, binaries: Binaries): Connections {
	const hosts = new Map<string, Promise<RemoteMachine>>();
	const bundles = new Map<string, Promise<Bundle>>();
	const warned = new Set<string>();
	const closing = new AbortController();
	const say = (line: string) => void world.stderr.write(`${line}\n`);
	const bundle = (name: string, from: string) => {
		const read = bundles.get(from) ?? bundleOf(name, from);
		bundles.set(from, read);
		read.catch(() => bundles.delete(from));
		return read;
	};
	const stop = AbortSignal.any([world.stop, closing.signal]);
	const connect = (remote: RemoteHost) =>
		connectMachine(remote, { world, binaries, bundle, say }, stop);
	return {
		tools: (built) => toolsOf(world, built),
		connect,
		say,
		get(ssh) {
			// The system is only for messages: the connection is the same for all.
			const key = JSON.stringify({ ...ssh, broker: null });
			const remote = overSsh(ssh);
			const had = hosts.get(key);
			const made = had
				? had.then(
						(one) => (one.link.alive() ? { ...one, remote } : connect(remote)),
						() => connect(remote),
					)
				: connect(remote);
			hosts.set(key, made);
			return made;
		},
		warn(text) {
			if (warned.has(text)) return;
			warned.add(text);
			say(text);
		},
		async close() {
			closing.abort("SIGTERM");
			const all = await Promise.allSettled(hosts.values());
			await Promise.all(
				all.map((one) => (one.status === "fulfilled" ? one.value.link.close() : undefined)),
			);
			hosts.clear();
		},
	};
}
