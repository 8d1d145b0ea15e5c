import { mkdir } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { hostPort } from "../../runner/brokers/addresses.ts";
import { startedAs } from "../../runner/brokers/index.ts";
import type {
	HostAddress,
	HostBroker,
	HostSetup,
	HostNode as NodeCommand,
	Placement,
	Tools,
} from "../../runner/brokers/process.ts";
import { failure } from "../../runner/errors.ts";
import { reasonOf } from "../../runner/reason.ts";
import type { RigFile } from "../../runner/scenario/rig-file.ts";
import type { World } from "../../runner/world.ts";
import type { Binaries } from "../binaries/resolve.ts";
import { signalThere, startThere } from "../clients/ssh-guarded.ts";
import type { SshHost } from "../clients/ssh-host.ts";
import { LOST } from "../clients/ssh-link.ts";
import { Unreachable } from "../clients/ssh-trouble.ts";
import { flushText, flushWarning } from "../docker/flush.ts";
import { type BrokerLog, openBrokerLog } from "../local/broker-log.ts";
import { none } from "../local/local.ts";
import { toolsOf } from "../local/tools.ts";
import { type Broker, type BrokerRequest, NEVER } from "../rig.ts";
import { type Bundle, bundleOf, writeThere } from "./bring.ts";
import { hostDisturber } from "./disturb.ts";
import { makeFolders, type RunFolders } from "./folders.ts";
import { type BrokerHost, prepareHost } from "./host.ts";
import { HostNode } from "./node.ts";
import { checkPlaces, type Place, placesOf } from "./places.ts";
import { brokerSamples, expectSamples, fetchSamples } from "./samples.ts";
import { checkPorts } from "./taken.ts";
import { openTunnel, type Tunnel } from "./tunnel.ts";

type Entry = RigFile["brokers"][number];

/** Brokers on hosts that ssh reaches. Connections are shared by all runs of a command, and go with it. */
export interface OnHosts {
	/**
	 * Brings up the broker of a rig's entry on its hosts, a node on each, for one run, and returns when it is ready and healthy. Whatever goes
	 * wrong, Ctrl-C included: nothing of it is left there. Hosts keep programs that were brought, and nothing else.
	 */
	open(entry: Entry, request: BrokerRequest): Promise<Broker>;
	/** Ends what is still up, and lets go of the hosts. More than once is no harm. */
	close(): Promise<void>;
}

export function onHosts(
	world: World,
	binaries: Binaries,
	kinds: Readonly<Record<string, HostBroker | null>> = startedAs("hosts"),
): OnHosts {
	const hosts = connections(world, binaries);
	const open = new Set<Broker>();
	return {
		async open(entry, request) {
			const kind = kinds[request.system.broker];
			if (!kind) return none();
			const broker = await openOnHosts(entry, request, kind, world, hosts);
			open.add(broker);
			return broker;
		},
		async close() {
			await Promise.all([...open].map((broker) => broker.close()));
			open.clear();
			await hosts.close();
		},
	};
}

// --- internal ---

/** Hosts by how ssh reaches them. */
interface Connections {
	/** Of this machine, for a broker that runs where those programs do. */
	tools(built: Binaries): Tools;
	get(ssh: SshHost): Promise<BrokerHost>;
	bundle(name: string, from: string): Promise<Bundle>;
	/** A line for people, without its end. */
	say(line: string): void;
	/** Says something once. */
	warn(text: string): void;
	close(): Promise<void>;
}

function connections(world: World, binaries: Binaries): Connections {
	const hosts = new Map<string, Promise<BrokerHost>>();
	const bundles = new Map<string, Promise<Bundle>>();
	const said = new Set<string>();
	const closing = new AbortController();
	const say = (line: string) => void world.stderr.write(`${line}\n`);
	const bundle = (name: string, from: string) => {
		const read = bundles.get(from) ?? bundleOf(name, from);
		bundles.set(from, read);
		read.catch(() => bundles.delete(from));
		return read;
	};
	return {
		tools: (built) => toolsOf(world, binaries, built),
		bundle,
		say,
		async get(ssh) {
			// The system is there for sentences: the connection is the same for all.
			const key = JSON.stringify({ ...ssh, broker: null });
			const had = await hosts.get(key)?.catch(() => null);
			if (had?.link.alive()) return { ...had, ssh };
			const made = prepareHost(
				ssh,
				{ world, binaries, bundle, say },
				AbortSignal.any([world.stop, closing.signal]),
			);
			hosts.set(key, made);
			return made;
		},
		warn(text) {
			if (said.has(text)) return;
			said.add(text);
			say(text);
		},
		async close() {
			closing.abort("SIGTERM");
			const all = await Promise.allSettled(hosts.values());
			await Promise.all(
				all.map((one) =>
					one.status === "fulfilled" ? one.value.link.close() : undefined,
				),
			);
			hosts.clear();
		},
	};
}

async function openOnHosts(
	entry: Entry,
	request: BrokerRequest,
	kind: HostBroker,
	world: World,
	connections: Connections,
): Promise<Broker> {
	const { system } = request;
	const places = placesOf(entry, request);
	const undo: (() => Promise<void>)[] = [];
	const pending = new Set<Promise<unknown>>();
	const tidy = tidying(world, connections.say);
	const notes: string[] = [];
	const close = once(async () => {
		// What a step that was given up has made, it has made by then.
		await tidy(Promise.allSettled(pending), null);
		for (const action of undo.reverse()) await action();
	});
	/** Waits for something, and gives up with a Ctrl-C. */
	const wait = <T>(step: Promise<T>) => {
		pending.add(step);
		const over = () => pending.delete(step);
		step.then(over, over);
		return unlessStopped(step, world.stop);
	};
	try {
		// A host that is not there is told at once, however long others are being set up.
		const hosts = await wait(
			Promise.all(places.map(({ ssh }) => connections.get(ssh))),
		);
		checkPlaces(request, places, hosts);
		const folders = await wait(
			everyOne(
				hosts.map(async ({ name, ssh, link, facts }) => {
					const made = await makeFolders(ssh, link, facts.store);
					undo.push(() =>
						tidy(
							made.remove(),
							`${name}: what this run has kept there stays (${made.store}, ${made.control}) until the next mqbench that comes there`,
						),
					);
					return made;
				}),
			),
		);
		const look = async () => {
			for (const [i, host] of hosts.entries()) {
				const note = `another mqbench ran on ${host.name}: it took CPU, disk and network from ${system.key}`;
				if (notes.includes(note)) continue;
				if (!(await (folders[i] as RunFolders).shared())) continue;
				notes.push(note);
				connections.warn(
					`Another mqbench runs on ${host.name}, which runs ${system.key}: what either measures holds only for the two of them together.`,
				);
			}
		};
		await wait(look());
		// One that came later has its folder there as well.
		undo.push(() => tidy(look(), null));
		const tunnels = await everyOne(
			hosts.map(({ link, guard }, i) =>
				Promise.all(
					kind.ports.map((port) =>
						openTunnel(link, guard, hostPort(places[i]?.address ?? "", port)),
					),
				),
			),
		);
		const closeTunnels = once(async () => {
			await Promise.all(tunnels.flat().map((tunnel) => tunnel.close()));
		});
		undo.push(closeTunnels);
		const first = hosts[0] as BrokerHost;
		const setup: HostSetup = {
			system,
			level: request.level,
			messageBytes: request.messageBytes,
			nodes: hosts.map((_, i) =>
				addressOf(
					places[i] as Place,
					kind,
					folders[i] as RunFolders,
					tunnels[i] ?? [],
				),
			),
			tools: connections.tools(first.binaries),
			ask: (node, argv) => ask(hosts[node] as BrokerHost, argv),
		};
		await wait(checkPorts(kind, setup));
		const placement = await wait(kind.place(setup));
		await wait(
			everyOne(
				hosts.map((host, i) =>
					furnish(
						host,
						folders[i] as RunFolders,
						placement,
						placement.nodes[i] as NodeCommand,
						connections,
					),
				),
			),
		);
		const flush = placement.onDisk
			? await wait(flushOf(hosts, folders, connections))
			: {};
		await mkdir(path.dirname(request.logPath), { recursive: true });
		const log = openBrokerLog(request.logPath, hosts.length, () =>
			world.clock.nowMs(),
		);
		undo.push(() => log.close());
		const stopping = new AbortController();
		const nodes = placement.nodes.map((command, i) =>
			nodeOf({
				number: i + 1,
				host: hosts[i] as BrokerHost,
				folders: folders[i] as RunFolders,
				command,
				request,
				placement,
				log,
			}),
		);
		for (const { number } of nodes)
			await expectSamples(number, path.dirname(request.logPath));
		const preparing: HostNode[] = [];
		undo.push(async () => {
			stopping.abort();
			await Promise.all(preparing.map((node) => node.close(placement.stopMs)));
			await Promise.all(
				nodes.map(async (node, i) => {
					await node.close(placement.stopMs);
					await tidy(
						fetchSamples(
							hosts[i] as BrokerHost,
							(folders[i] as RunFolders).control,
							node.number,
							path.dirname(request.logPath),
						),
						`${hosts[i]?.name}: what node ${node.number} has used is not known`,
					);
				}),
			);
		});
		await bringUp(
			{
				hosts,
				folders,
				nodes,
				preparing,
				placement,
				request,
				log,
				tunnels: tunnels.flat(),
			},
			world.stop,
		);
		await closeTunnels();
		return {
			url: placement.url(),
			version: placement.version(),
			binary: path.posix.basename(placement.nodes[0]?.argv[0] ?? ""),
			// Clients that share a node's machine are found by its identity.
			sameHost: false,
			identities: hosts.flatMap(({ facts }) => facts.identity ?? []),
			notes,
			pids: [],
			settings: {
				...placement.settings,
				host: each(hosts, ({ machine }) => machine),
				...(placement.onDisk
					? { store: each(hosts, ({ storeText }) => storeText) }
					: {}),
				...flush,
			},
			topology: topologyOf(hosts.length, entry.topology),
			nodeOf(name) {
				const number = Number(/\d+$/.exec(name)?.[0]);
				return nodes[number - 1]?.number ?? null;
			},
			disturb: hostDisturber(nodes, log, {
				startMs: placement.startMs,
				stopMs: placement.stopMs,
				stop: AbortSignal.any([world.stop, stopping.signal]),
			}),
			died: Promise.race(
				nodes.map(async ({ died, number, host }) => {
					const how = await died;
					if (stopping.signal.aborted) return NEVER;
					const who =
						nodes.length === 1
							? "the broker"
							: `node ${number} of ${nodes.length}`;
					return how.startsWith("the connection")
						? `${who}: ${how}`
						: `${who} on ${host} ended by itself (${how})`;
				}),
			),
			close,
		};
	} catch (error) {
		await close();
		if (world.stop.aborted)
			throw failure("interrupted", { signal: String(world.stop.reason) });
		throw error;
	}
}

function addressOf(
	{ address, host }: Place,
	kind: HostBroker,
	{ control, store, memory, memoryBytes }: RunFolders,
	tunnels: readonly Tunnel[],
): HostAddress {
	return {
		ip: address,
		hostname: host,
		client: hostPort(address, kind.ports[0] ?? 0),
		reached: tunnels.map((tunnel) => tunnel.address),
		published: false,
		store,
		memory,
		memoryBytes,
		brought: `${control}/brought`,
	};
}

function each(
	hosts: readonly BrokerHost[],
	text: (facts: BrokerHost["facts"]) => string,
): string {
	return [...new Set(hosts.map(({ facts }) => text(facts)))].join("; ");
}

const ASK_MS = 60_000;

async function ask(
	{ link }: BrokerHost,
	argv: readonly string[],
): Promise<{ code: number; said: string }> {
	const one = link.spawn('exec "$@" 2>&1 </dev/null', argv);
	one.stdin.end();
	let said = "";
	let err = "";
	one.stdout.setEncoding("utf8").on("data", (text) => {
		said += text;
	});
	one.stderr.setEncoding("utf8").on("data", (text) => {
		err += text;
	});
	// A program that never answers is one that does not work.
	const hangs = setTimeout(() => one.kill("SIGKILL"), ASK_MS);
	const code = await new Promise<number>((resolve) => {
		one.once("error", () => resolve(LOST));
		one.once("close", (how) => resolve(how ?? LOST));
	});
	clearTimeout(hangs);
	if (code === LOST && !link.alive()) throw await link.lost(err);
	return { code, said };
}

/** Brings what a node needs, and writes its files. */
async function furnish(
	host: BrokerHost,
	{ control, store }: RunFolders,
	{ bring }: Placement,
	{ files }: NodeCommand,
	connections: Connections,
): Promise<void> {
	for (const [name, from] of Object.entries(bring)) {
		const there = await host.bring(await connections.bundle(name, from));
		await host.link.run('mkdir -p "$1" && ln -s "$2" "$1/$3"', [
			`${control}/brought`,
			there,
			name,
		]);
	}
	if (Object.keys(files).length > 0)
		await writeThere(host.ssh, host.link, store, files);
}

/** How long a flush takes on the disks that are measured: the slowest of them, as a cluster waits for it. */
async function flushOf(
	hosts: readonly BrokerHost[],
	folders: readonly RunFolders[],
	{ warn }: Connections,
): Promise<Record<string, string>> {
	const all = await Promise.all(
		hosts.map((host, i) => host.flush((folders[i] as RunFolders).store)),
	);
	for (const [i, flush] of all.entries()) {
		const warning = flushWarning(flush, `The disk of ${hosts[i]?.name}`);
		if (warning !== null) warn(warning);
	}
	const known = all.filter((one) => one !== null);
	const slowest =
		known.length < all.length
			? null
			: (known.sort((a, b) => b.p50Ns - a.p50Ns)[0] ?? null);
	return {
		"store fdatasync": `${flushText(slowest)}${slowest !== null && hosts.length > 1 ? `, the slowest of ${hosts.length} hosts` : ""}`,
	};
}

function nodeOf({
	number,
	host,
	folders: { control, store },
	command,
	request,
	placement,
	log,
}: {
	readonly number: number;
	readonly host: BrokerHost;
	readonly folders: RunFolders;
	readonly command: NodeCommand;
	readonly request: BrokerRequest;
	readonly placement: Placement;
	readonly log: BrokerLog;
}): HostNode {
	const where = { folder: store, pidFile: `${control}/guard-${number}` };
	return new HostNode({
		number,
		host: host.name,
		run: (take) => {
			const hear = (line: string) => {
				log.write(line, number);
				take(line);
			};
			return startThere(host.link, host.guard, {
				...where,
				argv: command.argv,
				env: command.env ?? {},
				cpus: request.cpus,
				graceMs: placement.stopMs,
				samples: `${control}/${brokerSamples(number)}`,
				role: "broker",
				aheadNs: host.aheadNs,
				onStdout: hear,
				onStderr: hear,
			});
		},
		signal: (name) => signalThere(host.link, where, name),
		ready: (line) => placement.ready(line, number - 1),
	});
}

type Step = "done" | "late" | "stopped" | { readonly how: string };

/** Runs what comes before, starts all nodes, and returns when each is ready and the broker healthy. */
async function bringUp(
	{
		hosts,
		folders,
		nodes,
		preparing,
		placement,
		request,
		log,
		tunnels,
	}: {
		readonly hosts: readonly BrokerHost[];
		readonly folders: readonly RunFolders[];
		readonly nodes: readonly HostNode[];
		/** Whatever runs before the nodes; added to. */
		readonly preparing: HostNode[];
		readonly placement: Placement;
		readonly request: BrokerRequest;
		readonly log: BrokerLog;
		readonly tunnels: readonly Tunnel[];
	},
	stop: AbortSignal,
): Promise<void> {
	const over = new AbortController();
	const limit: Promise<Step> = sleep(placement.startMs, "late" as const, {
		signal: AbortSignal.any([stop, over.signal]),
	}).catch(() => "stopped" as const);
	const whose = (i: number) =>
		nodes.length === 1
			? ""
			: `node ${i + 1} of ${nodes.length} (${hosts[i]?.name}): `;
	const notStarted = (reason: string) =>
		failure("broker-start", {
			system: request.system.key,
			reason,
			log: request.logPath,
		});
	const judge = (step: Step, passed: string) => {
		if (step === "done") return;
		if (step === "stopped")
			throw failure("interrupted", { signal: String(stop.reason) });
		if (step === "late") {
			const trouble =
				passed === ""
					? ""
					: (tunnels.map((one) => one.trouble()).find(Boolean) ?? "");
			throw notStarted(
				`it ${passed}took no connections within ${placement.startMs / 1000}s${trouble ? ` (through the SSH connection: ${trouble})` : ""}`,
			);
		}
		const words = log.lastWords();
		throw notStarted(`${step.how}${words ? `, last words: ${words}` : ""}`);
	};
	try {
		const prepared = everyOne(
			placement.nodes.map(({ before }, i) =>
				runBefore(
					{
						host: hosts[i] as BrokerHost,
						folders: folders[i] as RunFolders,
						number: i + 1,
						whose: whose(i),
						request,
						placement,
						log,
						preparing,
						over: over.signal,
					},
					before,
				),
			),
		).then((steps) => steps.find((step) => step !== "done") ?? "done");
		judge(await Promise.race([prepared, limit]), "");
		const starts = await Promise.all(nodes.map((node) => node.start()));
		const ended = starts.map(async (one, i) => ({
			how: `${whose(i)}${await one.ended}`,
		}));
		const ready = Promise.all(starts.map((one) => one.ready)).then(
			(): Step => "done",
		);
		judge(await Promise.race([ready, limit, ...ended]), "");
		if (placement.healthy)
			judge(
				await Promise.race([
					untilHealthy(placement, over.signal),
					limit,
					...ended,
				]),
				"was ready and ",
			);
	} finally {
		over.abort();
	}
}

/** Commands of a node that have to end well before it starts. */
async function runBefore(
	{
		host,
		folders: { control, store },
		number,
		whose,
		request,
		placement,
		log,
		preparing,
		over,
	}: {
		readonly host: BrokerHost;
		readonly folders: RunFolders;
		readonly number: number;
		readonly whose: string;
		readonly request: BrokerRequest;
		readonly placement: Placement;
		readonly log: BrokerLog;
		readonly preparing: HostNode[];
		/** Nothing is started any more. */
		readonly over: AbortSignal;
	},
	commands: readonly (readonly string[])[],
): Promise<Step> {
	for (const argv of commands) {
		if (over.aborted) return "stopped";
		const hear = (line: string) => log.write(line, number);
		const node = new HostNode({
			number,
			host: host.name,
			run: () =>
				startThere(host.link, host.guard, {
					folder: store,
					pidFile: `${control}/guard-before`,
					argv,
					env: placement.nodes[number - 1]?.env ?? {},
					cpus: request.cpus,
					graceMs: placement.stopMs,
					samples: "/dev/null",
					aheadNs: 0,
					onStdout: hear,
					onStderr: hear,
				}),
			signal: async () => 0,
			ready: () => false,
		});
		preparing.push(node);
		const how = await (await node.start()).ended;
		if (how !== "exit code 0") return { how: `${whose}${argv[0]}: ${how}` };
	}
	return "done";
}

const HEALTH_MS = 100;

/** An answer that fails is one that says no. */
async function untilHealthy(
	placement: Placement,
	over: AbortSignal,
): Promise<Step> {
	while (!(await placement.healthy?.().catch(() => false))) {
		if (over.aborted) return NEVER;
		await sleep(HEALTH_MS);
	}
	return "done";
}

function topologyOf(nodes: number, said: string | null): string {
	const ours = `${nodes === 1 ? "1 node" : `${nodes} nodes`} on ${nodes === 1 ? "1 host" : `${nodes} hosts`}`;
	if (said === null || ours === said) return ours;
	return said.startsWith(ours) ? said : `${ours}, ${said}`;
}

/** All of them, also when one has failed: what the others have made can then be taken away. */
async function everyOne<T>(steps: readonly Promise<T>[]): Promise<T[]> {
	const all = await Promise.allSettled(steps);
	return all.map((one) => {
		if (one.status === "rejected") throw one.reason;
		return one.value;
	});
}

/** Ctrl-C does not wait for what a host does. */
function unlessStopped<T>(step: Promise<T>, stop: AbortSignal): Promise<T> {
	step.catch(() => {});
	return new Promise((resolve, reject) => {
		const give = () =>
			reject(failure("interrupted", { signal: String(stop.reason) }));
		if (stop.aborted) return give();
		stop.addEventListener("abort", give, { once: true });
		step
			.then(resolve, reject)
			.finally(() => stop.removeEventListener("abort", give));
	});
}

/** After a Ctrl-C nobody is held up for longer: the next mqbench that comes there tidies up. */
const TIDY_MS = 10_000;

/**
 * Waits for something that tidies up, as long as its connection lives: what hangs on that ends with it. `left` is said where it did not go through;
 * null: nobody has to know.
 */
function tidying({ stop }: Pick<World, "stop">, say: Connections["say"]) {
	return async (step: Promise<unknown>, left: string | null): Promise<void> => {
		const over = new AbortController();
		const limit = async () => {
			if (!stop.aborted)
				await new Promise((resolve) => {
					stop.addEventListener("abort", resolve, { signal: over.signal });
				});
			await sleep(TIDY_MS, undefined, { signal: over.signal });
			throw new Error("it takes too long");
		};
		const given = limit();
		given.catch(() => {});
		try {
			await Promise.race([step, given]);
		} catch (error) {
			if (left !== null)
				say(
					`  ${left} (${error instanceof Unreachable ? error.reason : reasonOf(error).replace(/[.\s]+$/, "")})`,
				);
		} finally {
			over.abort();
		}
	};
}

function once(action: () => Promise<void>): () => Promise<void> {
	let running: Promise<void> | undefined;
	return () => {
		running ??= action();
		return running;
	};
}
