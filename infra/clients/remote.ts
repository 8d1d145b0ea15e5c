import { readChrony } from "../machines/chrony.ts";
import { askClock } from "../machines/clock.ts";
import { fetchFile, putFile } from "../machines/files.ts";
import { makeFolder, removeFolders } from "../machines/folders.ts";
import type { RemoteHost } from "../machines/host.ts";
import type { Link } from "../machines/link.ts";
import { type MachineOptions, machineOver } from "../machines/machine.ts";
import { startThere } from "../machines/spawn.ts";
import { PING, pingOf } from "../ping.ts";
import type { Client, ClockReading } from "../rig.ts";
import { sweep } from "../temporary.ts";

/** A client on another host, or in a pod. A connection that was lost is replaced. */
export function remoteClient(
	index: number,
	host: RemoteHost,
	options: MachineOptions,
	kind: "ssh" | "pod" = "ssh",
): Client {
	const { world, binaries } = options;
	let opening: Promise<Link> | null = null;
	let open: Link | null = null;
	let reached = false;
	let prepared: { readonly k6: string; readonly agent: string; clock: ClockReading } | null = null;
	const workspaces = new Set<() => Promise<void>>();
	const closing = new AbortController();
	/** `stop` cancels the wait for the connection. */
	const connect = async (stop: AbortSignal[]): Promise<Link> => {
		if (open?.alive()) return open;
		const giveUp = AbortSignal.any([...stop, closing.signal]);
		const { agent } = binaries;
		opening ??= host
			.connect({ agent, world, say: options.say }, giveUp, !reached)
			.then((made) => {
				reached = true;
				open = made;
				return made;
			})
			.finally(() => {
				opening = null;
			});
		return await opening;
	};
	let failed: { readonly error: unknown; readonly atMs: number } | null = null;
	/** The same after a run, where a host that is gone is not waited for again for every file. */
	const link = async (): Promise<Link> => {
		const now = world.clock.monotonicMs();
		if (failed && now - failed.atMs < AGAIN_MS) throw failed.error;
		try {
			return await connect([]);
		} catch (error) {
			failed = { error, atMs: world.clock.monotonicMs() };
			throw error;
		}
	};
	/** Runs something over the connection, and repeats it over a new one if the first was lost. */
	const over = async <T>(action: (link: Link) => Promise<T>): Promise<T> => {
		const had = open;
		const first = await link();
		try {
			return await action(first);
		} catch (error) {
			// A connection that was made a moment ago is not lost by chance.
			if (first !== had || first.alive()) throw error;
			return await action(await link());
		}
	};
	const there = () => {
		if (prepared === null) throw new Error(`${host.name} has not been prepared`);
		return prepared;
	};
	return {
		index,
		name: host.name,
		kind,
		sameClock: false,
		async prepare() {
			await sweep();
			const machine = await machineOver(host, await connect([world.stop]), options);
			const { agent, clock } = machine;
			prepared = { agent, clock, k6: await machine.put("k6", machine.binaries.k6) };
			return machine.facts;
		},
		clock: () =>
			over(async (link) => {
				const utcBoundNs = await readChrony(link);
				there().clock = { ...(await askClock(host, link, there().agent)), utcBoundNs };
				return there().clock;
			}),
		ping: (address) =>
			over(async (link) => {
				const { values } = await link.run(PING, [there().agent, address]);
				return pingOf(values.ping ?? "");
			}),
		async workspace(local) {
			const { k6, agent } = there();
			const made = await over(async (link) => ({ link, folder: await makeFolder(host, link) }));
			const { folder } = made;
			const samples = `resources-${index}.jsonl`;
			const fetch = (name: string) => over((link) => fetchFile(host, link, folder, name, local));
			let started = false;
			const remove = async () => {
				workspaces.delete(remove);
				// The run goes on: missing figures count as unknown.
				if (started) await fetch(samples);
				await over((link) => removeFolders(host, link, [folder]));
			};
			workspaces.add(remove);
			return {
				put: (name) => over((link) => putFile(host, link, folder, name, local)),
				start(command) {
					started = made.link.alive();
					return startThere(made.link, agent, {
						...command,
						argv: [k6, ...command.args],
						folder,
						pidFile: "agent-k6",
						samples,
						aheadNs: there().clock.offsetNs,
					});
				},
				fetch,
				remove,
			};
		},
		async close() {
			// A host that is gone keeps them until the next run there.
			if (open?.alive())
				await Promise.all([...workspaces].map((remove) => remove().catch(() => {})));
			workspaces.clear();
			closing.abort("SIGTERM");
			await opening?.catch(() => {});
			await open?.close();
			open = null;
		},
	};
}

// --- internal ---

/** How long a host that could not be reached is not tried again. */
const AGAIN_MS = 30_000;
