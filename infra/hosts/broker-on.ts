import { writeFile } from "node:fs/promises";
import path from "node:path";
import type {
	BrokerProcess,
	Described,
	ImageFacts,
	NodeDescription,
	Setup,
} from "../../runner/brokers/process.ts";
import { once } from "../../runner/once.ts";
import { reasonOf } from "../../runner/reason.ts";
import { interrupted, orInterrupted } from "../../runner/stop.ts";
import type { World } from "../../runner/world.ts";
import { commandOf } from "../docker/container.ts";
import { pathsInside } from "../docker/sites.ts";
import { fetchFile } from "../machines/files.ts";
import { makeFolders } from "../machines/folders.ts";
import type { RemoteMachine } from "../machines/machine.ts";
import { Unreachable } from "../machines/trouble.ts";
import { openBroker } from "../nodes/broker.ts";
import type { Place } from "../nodes/place.ts";
import type { Broker, BrokerRequest } from "../rig.ts";
import { settled } from "../settled.ts";
import type { Connections } from "./connections.ts";
import { brokerSamples, type PlaceOptions } from "./place.ts";
import { type HostSite, hostSite, type NodeMachine } from "./sites.ts";

/** For the steps until a broker is up, and back. */
export interface Steps {
	/** Waits for something, and stops waiting after a Ctrl-C. */
	wait<T>(step: Promise<T>): Promise<T>;
	/**
	 * Runs at the end or after a failure, the last one first; 10 s after a Ctrl-C it is given up, and the next mqbench there cleans up. `left`
	 * is the message if it did not succeed; null for none.
	 */
	undo(action: () => Promise<unknown>, left?: string | null): void;
	/** Makes a run's folders on each machine. `stays`: they would outlive the machine's connection. */
	sites(machines: readonly NodeMachine[], stays: boolean): Promise<HostSite[]>;
}

/** The parts of a broker on machines that only the target can provide. */
export interface OnMachines extends Pick<Setup, "image" | "ask" | "where"> {
	readonly sites: readonly HostSite[];
	place(common: PlaceOptions, made: Described): Place;
	/** The report's text about the disk of a broker that waits for one. */
	readonly store: { readonly text: string; flush(): Promise<Readonly<Record<string, string>>> };
	readonly topology: string;
	readonly notes: readonly string[];
}

/**
 * Brings up a broker on dedicated machines, one node each, for one run, and returns when it is ready and healthy. After any failure, Ctrl-C
 * included, nothing of it is left there, except for the copied programs.
 */
export async function brokerOn(
	request: BrokerRequest,
	kind: BrokerProcess,
	world: World,
	{ say, tools }: Pick<Connections, "say" | "tools">,
	prepare: (steps: Steps) => Promise<OnMachines>,
): Promise<Broker> {
	const { system, level, messageBytes } = request;
	const undone: (() => Promise<void>)[] = [];
	const pending = new Set<Promise<unknown>>();
	const tidy = (step: Promise<unknown>, left: string | null = null) =>
		unlessStopped(step, world.stop, TIDY_MS, () => new Error("it takes too long")).then(
			() => {},
			(error) => {
				const why = error instanceof Unreachable ? error.reason : reasonOf(error);
				if (left !== null) say(`  ${left} (${why.replace(/[.\s]+$/, "")})`);
			},
		);
	const undo: Steps["undo"] = (action, left) => void undone.push(() => tidy(action(), left));
	const remove = once(async () => {
		// By now a cancelled step has made whatever it was going to make.
		await tidy(Promise.allSettled(pending));
		for (const action of undone.reverse()) await action();
	});
	const wait = <T>(step: Promise<T>) => {
		pending.add(step);
		const over = () => pending.delete(step);
		step.then(over, over);
		return unlessStopped(step, world.stop);
	};
	const makeSites = (machines: readonly NodeMachine[], stays: boolean) =>
		settled(
			machines.map(async (machine) => {
				const { name, remote, link, facts } = machine.host;
				const folders = await makeFolders(remote, link, facts.store);
				const left = `${name}: files of this run stay there (${folders.store}, ${folders.control}) until the next mqbench uses the host`;
				if (stays) undo(folders.remove, left);
				const site = await hostSite(kind, machines.length, machine, folders);
				undo(async () => site.tunnel?.close());
				return site;
			}),
		);
	try {
		const { sites, image, ask, where, place, store, topology, notes } = await prepare({
			wait,
			undo,
			sites: (machines, stays) => wait(makeSites(machines, stays)),
		});
		const hosts = sites.map(({ host }) => host);
		const nodes = image ? sites.map((site) => ({ ...site, ...pathsInside(kind) })) : sites;
		const { binaries } = hosts[0] as RemoteMachine;
		const setup = { system, level, messageBytes, image, nodes, tools: tools(binaries), ask, where };
		const made = await wait(kind.describe(setup));
		const flush = made.flushes ? { store: store.text, ...(await wait(store.flush())) } : {};
		const folder = path.dirname(request.logPath);
		// Announced: otherwise, if a node's samples are missing, the other nodes' sum would be taken for the broker's.
		for (const [i] of sites.entries()) await writeFile(path.join(folder, brokerSamples(i + 1)), "");
		const places = nodes.map((site, i) => {
			const { host, folders } = site;
			const { name, remote, link } = host;
			const number = i + 1;
			const fetch = async () => {
				if (link.alive())
					await fetchFile(remote, link, folders.control, brokerSamples(number), folder);
			};
			const left = `${name}: what node ${number} has used is not known`;
			const fetchSamples = () => tidy(fetch(), left);
			return place({ site, number, stopMs: made.stopMs, fetchSamples }, made);
		});
		return await openBroker({
			facts: image ? { ...made, nodes: made.nodes.map((node) => inContainer(node, image)) } : made,
			places,
			request,
			world,
			remove,
			about: {
				binary: image?.name ?? path.posix.basename(made.nodes[0]?.argv[0] ?? ""),
				// Clients on a node's machine are recognized by its identity.
				sameHost: false,
				identities: hosts.flatMap(({ facts }) => facts.identity ?? []),
				hosts: hosts.map(({ name, facts: { settings } }) => ({
					name,
					role: "brokers" as const,
					settings,
				})),
				notes,
				topology,
				settings: {
					...made.settings,
					...(image ? { image: imageText(image) } : {}),
					host: perHost(hosts, ({ machine }) => machine),
					...flush,
				},
			},
		});
	} catch (error) {
		await remove();
		orInterrupted(world.stop);
		throw error;
	}
}

export function perHost(
	hosts: readonly RemoteMachine[],
	text: (facts: RemoteMachine["facts"]) => string,
): string {
	return [...new Set(hosts.map(({ facts }) => text(facts)))].join("; ");
}

// --- internal ---

const TIDY_MS = 10_000;

/** A cluster identifies its image only by its name. */
function imageText({ name, digest, id }: ImageFacts): string {
	return id === name ? name : `${name} (${digest ?? id})`;
}

/**
 * The image's entry point starts the node. Memory is lost after a kill, so its preparations run before each of its starts. Agent passes on
 * only the variables given to it, and the engine's HOME is another user's.
 */
function inContainer(node: NodeDescription, { entrypoint, env }: ImageFacts): NodeDescription {
	const { entrypoint: instead, args } = commandOf(node);
	return {
		...node,
		before: [],
		argv: [...(instead ? [instead] : entrypoint), ...args],
		env: { HOME: "/", ...env, ...node.env },
	};
}

/** Waits for a step, but after a Ctrl-C not for steps on a host, or only as long as this. */
function unlessStopped<T>(
	step: Promise<T>,
	stop: AbortSignal,
	graceMs = 0,
	late: () => Error = () => interrupted(stop),
): Promise<T> {
	step.catch(() => {});
	return new Promise((resolve, reject) => {
		let timer: NodeJS.Timeout | undefined;
		const hurry = () => {
			timer = setTimeout(() => reject(late()), graceMs);
		};
		if (stop.aborted) hurry();
		else stop.addEventListener("abort", hurry, { once: true });
		step.then(resolve, reject).finally(() => {
			stop.removeEventListener("abort", hurry);
			clearTimeout(timer);
		});
	});
}
