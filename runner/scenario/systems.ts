import path from "node:path";
import { LEVELS } from "../plan/plan.ts";
import {
	brokerOf,
	commonOptions,
	SystemOptions,
	type SystemOptionsOfAnyBroker,
	type Traits,
	variable,
} from "./brokers.ts";
import type { Path, Problem } from "./problem.ts";
import type { System } from "./scenario.ts";
import type { Target } from "./schema.ts";
import { type ResolvedUrl, resolveUrl } from "./url.ts";

/** What resolving systems needs to know of the rest of the scenario and of the command line. */
export interface SystemContext {
	/** undefined: the scenario's target is itself a mistake. */
	readonly target: Target | undefined;
	/** The command line chose the target: settings of other targets are then left aside, not refused. */
	readonly targetChosen: boolean;
	readonly env: Readonly<Record<string, string | undefined>>;
	/** Folder of the scenario, from which its paths count. */
	readonly folder: string;
	/** Of this machine, in Node's words: "linux". */
	readonly platform: string;
	/** The option that set what stands at `path`; undefined: the file did. */
	labelOf(path: Path): string | undefined;
}

/** Why CPUs cannot be chosen. */
export const NO_PIN =
	"pin is for Linux, where a process can be held to CPUs; remove it on this machine";

/** A system and where it is written; a system with a mistake is left out. */
export type PlacedSystem = System & { readonly path: Path };

/** The systems of a scenario, in its order, with URLs from the environment; `keys` names those with mistakes too. */
export function resolveSystems(
	written: { readonly system?: unknown; readonly systems?: unknown },
	context: SystemContext,
): { systems: PlacedSystem[]; keys: string[]; problems: Problem[] } {
	const problems: Problem[] = choose(written);
	const systems: PlacedSystem[] = [];
	const keys: string[] = [];
	for (const { key, path, value } of entries(written)) {
		const map = typeof value === "string" ? { broker: value } : value;
		const name = key ?? (isMap(map) ? map.broker : undefined);
		if (typeof name === "string") keys.push(name);
		const options = SystemOptions.safeParse(map);
		// What is wrong with it is the schema's to say.
		if (!options.success) continue;
		const found = resolveOne(options.data, path, context);
		if (Array.isArray(found)) problems.push(...found);
		else systems.push({ key: key ?? options.data.broker, path, ...found });
	}
	return { systems, keys, problems };
}

// --- internal ---

function choose(written: {
	readonly system?: unknown;
	readonly systems?: unknown;
}): Problem[] {
	if (written.system !== undefined && written.systems !== undefined)
		return [
			{
				path: ["systems"],
				at: "key",
				message: "a scenario has system or systems, not both; move it there",
			},
		];
	const none = "; write e.g. system: nats";
	if (written.system === undefined && written.systems === undefined)
		return [
			{ path: ["system"], at: "key", message: `system is missing${none}` },
		];
	if (isMap(written.systems) && Object.keys(written.systems).length === 0)
		return [
			{ path: ["systems"], at: "key", message: `systems is empty${none}` },
		];
	return [];
}

function entries(written: {
	readonly system?: unknown;
	readonly systems?: unknown;
}): { key: string | null; path: Path; value: unknown }[] {
	if (isMap(written.systems))
		return Object.entries(written.systems).map(([key, value]) => ({
			key,
			path: ["systems", key],
			value,
		}));
	return [{ key: null, path: ["system"], value: written.system }];
}

function resolveOne(
	written: SystemOptions,
	where: Path,
	context: SystemContext,
): Omit<System, "key"> | Problem[] {
	const options = absolute(written, context.folder);
	const broker = brokerOf(options);
	const traits = broker.traits(options);
	const common = commonOptions(options);
	const problems: Problem[] = [];
	// One sentence for a key: what a broker says itself comes first.
	const said = new Set<string>();
	const wrong = (key: string, message: string) => {
		if (said.has(key)) return;
		said.add(key);
		problems.push({ path: [...where, key], at: "value", message });
	};

	for (const { key, message } of broker.contradictions(options))
		wrong(key, message);
	for (const [key, message] of [
		...ofDurability(common, traits),
		...ofCluster(common, traits, context),
		...ofPin(common, context),
	])
		wrong(key, message);

	let url: string | null = null;
	// A file may carry a url for `--target existing` and still run on a laptop with `--target local`, and the other way round.
	if (context.target === "existing") {
		if (!context.targetChosen)
			for (const [key, why] of Object.entries(OURS))
				if (common[key as keyof typeof common] !== undefined)
					wrong(
						key,
						`${key} is for target local, where mqbench starts the broker; ${why}`,
					);
		const found = existingUrl(options, where, context);
		if (found && "wrong" in found) wrong("url", found.wrong);
		else url = found?.url ?? null;
	} else {
		const leftAside = (key: string) =>
			context.targetChosen && context.labelOf([...where, key]) === undefined;
		if (common.url !== undefined && context.target && !leftAside("url"))
			wrong(
				"url",
				"url is for target existing; add target: existing, or remove url to have mqbench start the broker",
			);
		const tls = "tls" in options ? options.tls : undefined;
		if (tls && context.target && !leftAside("tls"))
			wrong(
				"tls",
				"tls is for target existing; a broker that mqbench starts listens on this machine alone, unencrypted; add target: existing, or remove tls",
			);
	}
	if (problems.length > 0) return problems;
	const local = context.target === "local";
	return {
		broker: options.broker,
		url,
		port: local ? (common.port ?? null) : null,
		binary: local ? (common.binary ?? null) : null,
		options,
		traits,
	};
}

/** Settings of brokers that we start, and what an existing one has instead. */
const OURS = {
	port: "an existing one has a url",
	version: "an existing one says its own",
	binary: "an existing one runs already; remove binary",
	config: "set an existing one up before the run; remove config",
	nodes: "an existing one has as many as it has; remove nodes",
	pin: "pin an existing one where it runs; remove pin",
} as const;

/** null: this broker has no address. */
function existingUrl(
	options: SystemOptions,
	where: Path,
	context: SystemContext,
): ResolvedUrl | null {
	const broker = brokerOf(options);
	const { urlSchemes, defaultPort } = broker;
	const { url } = commonOptions(options);
	if (urlSchemes.length === 0) return null;
	if (url === undefined) {
		const [open, close] =
			where[0] === "systems" ? [`${where[1]}: { `, " }"] : ["", ""];
		return {
			wrong: `target existing needs a url for ${options.broker}; write ${where[0]}: { ${open}broker: ${options.broker}, url: "${variable(`${options.broker.toUpperCase()}_URL`)}" }${close} or give --url ${urlSchemes[0]}://host:${defaultPort}`,
		};
	}
	const inFile = context.labelOf([...where, "url"]) === undefined;
	return resolveUrl(url, broker, context.env, inFile);
}

type Refusal = readonly [key: string, message: string];

function ofDurability(
	{ durability }: SystemOptionsOfAnyBroker,
	{ title, levels, ownDurability }: Traits,
): Refusal[] {
	if (durability === undefined || levels[durability] !== undefined) return [];
	const can = LEVELS.filter((level) => levels[level] !== undefined);
	return [
		[
			"durability",
			`durability ${durability}: ${title} cannot give it; ${can.length === 0 ? `it has no levels (${ownDurability}); remove durability` : `it gives ${can.join(", ")}`}`,
		],
	];
}

function ofCluster(
	{ nodes, replicas }: SystemOptionsOfAnyBroker,
	{ title, nodes: possible, maxReplicas }: Traits,
	{ target }: SystemContext,
): Refusal[] {
	const found: Refusal[] = [];
	if (nodes !== undefined && target === "local" && !possible.includes(nodes))
		found.push([
			"nodes",
			`nodes ${nodes}: mqbench starts ${title} with ${possible.join(" or ")} ${possible.length === 1 && possible[0] === 1 ? "node" : "nodes"} on one machine; write nodes: ${possible.find((n) => n > nodes) ?? possible.at(-1)}, or remove it`,
		]);
	if (replicas === undefined) return found;
	if (replicas > maxReplicas)
		found.push([
			"replicas",
			maxReplicas === 1
				? `replicas ${replicas}: ${title} has one copy of each topic; remove replicas`
				: `replicas ${replicas}: ${title} keeps at most ${maxReplicas} copies of a topic`,
		]);
	else if (target === "local" && replicas > (nodes ?? 1))
		found.push([
			"replicas",
			`replicas ${replicas} need as many nodes, and there ${(nodes ?? 1) === 1 ? "is one" : `are ${nodes}`}; write nodes: ${possible.find((n) => n >= replicas) ?? replicas}, or remove replicas`,
		]);
	return found;
}

function ofPin(
	{ pin }: SystemOptionsOfAnyBroker,
	{ target, platform }: SystemContext,
): Refusal[] {
	return pin !== undefined && target === "local" && platform !== "linux"
		? [["pin", NO_PIN]]
		: [];
}

/** Paths of the file count from its folder, wherever mqbench is started. A bare name is looked up on PATH. */
function absolute(options: SystemOptions, folder: string): SystemOptions {
	const { binary } = commonOptions(options);
	const tls = "tls" in options ? options.tls : undefined;
	const from = (file: string | undefined) =>
		file === undefined ? undefined : path.resolve(folder, file);
	return {
		...options,
		...(binary !== undefined && /[/\\]/.test(binary)
			? { binary: path.resolve(folder, binary) }
			: {}),
		...(typeof tls === "object"
			? {
					tls: {
						...tls,
						...(tls.ca === undefined ? {} : { ca: from(tls.ca) }),
						...(tls.cert === undefined ? {} : { cert: from(tls.cert) }),
						...(tls.key === undefined ? {} : { key: from(tls.key) }),
					},
				}
			: {}),
	} as SystemOptions;
}

function isMap(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
