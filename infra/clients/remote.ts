import { askFacts } from "../remote/facts.ts";
import type { RemoteHost } from "../remote/host.ts";
import type { Link } from "../remote/link.ts";
import { type Programs, pushPrograms, type RemoteOptions } from "../remote/programs.ts";
import { remoteWorkspace, sweepWorkspaces } from "../remote/workspace.ts";
import type { Client, ClockReading } from "../rig.ts";
import { sweep } from "../temporary.ts";
import { readChrony } from "./chrony.ts";
import { readClock } from "./clock.ts";
import { PING, pingOf } from "./ping.ts";

/** A client on another host, or in a pod. */
export function remoteClient(
	index: number,
	host: RemoteHost,
	options: RemoteOptions,
	kind: "ssh" | "pod" = "ssh",
): Client {
	const { world, binaries } = options;
	let opening: Promise<Link> | null = null;
	let open: Link | null = null;
	let reached = false;
	let programs: Programs | null = null;
	let clock: ClockReading | null = null;
	const workspaces = new Set<() => Promise<void>>();
	const closing = new AbortController();
	/** The connection, replaced when it was lost. `stop` cancels the wait for it. */
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
	const there = (): Programs => {
		if (programs === null) throw new Error(`${host.name} has not been prepared`);
		return programs;
	};
	const askClock = () =>
		over(async (link) => {
			const utcBoundNs = await readChrony(link);
			const child = link.spawn('echo; exec "$1" clock', [there().agent]);
			try {
				clock = { ...(await readClock(child)), utcBoundNs };
				return clock;
			} catch {
				throw await link.lost("");
			} finally {
				child.stdin.end();
				await child.code;
			}
		});
	return {
		index,
		name: host.name,
		kind,
		sameClock: false,
		async prepare() {
			await sweep();
			const made = await connect([world.stop]);
			const { platform, more: _, ...facts } = await askFacts(host, made);
			programs = await pushPrograms(host, made, {
				...options,
				binaries: await binaries.on(platform, host.name),
			});
			await sweepWorkspaces(made);
			await askClock();
			return facts;
		},
		clock: askClock,
		ping: (address) =>
			over(async (link) => {
				const { values } = await link.run(PING, [there().agent, address]);
				return pingOf(values.ping ?? "");
			}),
		async workspace(local) {
			const made = await remoteWorkspace({
				host,
				over,
				programs: there(),
				local,
				samples: `resources-${index}.jsonl`,
				aheadNs: () => clock?.offsetNs ?? 0,
			});
			workspaces.add(made.remove);
			return {
				...made,
				async remove() {
					workspaces.delete(made.remove);
					await made.remove();
				},
			};
		},
		async close() {
			const left = [...workspaces];
			workspaces.clear();
			// A host that is gone keeps them until the next run there.
			if (open?.alive()) await Promise.all(left.map((remove) => remove().catch(() => {})));
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
