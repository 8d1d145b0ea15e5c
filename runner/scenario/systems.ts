import path from "node:path";
import {
	brokerOf,
	commonOptions,
	example,
	hasProcess,
	SystemOptions,
	type SystemOptionsOfAnyBroker,
	type Traits,
	variable,
} from "../brokers/index.ts";
import { LEVELS } from "../model/plan.ts";
import { type BrokerPlace, ON_HOSTS, targetTraits } from "../model/targets.ts";
import { maskUrls } from "../secrets.ts";
import type { GivenRig } from "./overrides.ts";
import type { Path, Problem } from "./problem.ts";
import { onHosts } from "./rig.ts";
import type { System } from "./scenario.ts";
import type { Target } from "./schema.ts";
import { misplacedSettings } from "./target-settings.ts";
import { type ResolvedUrl, resolveUrl } from "./url.ts";

/** What resolving systems needs to know of the rest of the scenario and of the command line. */
export interface SystemContext {
	/** undefined: the scenario's target is itself a mistake. */
	readonly target: Target | undefined;
	/** The command line chose the target: settings of other targets are then left aside, not refused. */
	readonly targetChosen: boolean;
	readonly env: Readonly<Record<string, string | undefined>>;
	/** Brokers that stay up, in place of those that the target would have. */
	readonly rig: GivenRig | null;
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
		const named = key ?? options.data.broker;
		const found = resolveOne(named, options.data, path, context);
		if (Array.isArray(found)) problems.push(...found);
		else systems.push({ key: named, path, ...found });
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
	const none = `; write e.g. system: ${example.broker}`;
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
	name: string,
	written: SystemOptions,
	where: Path,
	context: SystemContext,
): Omit<System, "key"> | Problem[] {
	const options = reached(name, absolute(written, context.folder), context);
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

	const hosts = onHosts(context.rig, name);
	const target = hosts ? ON_HOSTS : (context.target ?? "local");
	const { place } = targetTraits(target);
	const starting = { ...context, target, ours: isOurs(context, hosts) };
	for (const { key, message } of [
		...broker.contradictions(options, place),
		...ofDurability(common, traits),
		...ofCluster(common, traits, starting),
		...ofPin(common, starting),
		...ofImage(common, starting),
		...ofCreate(options, starting),
		...ofRig(name, options, context),
	])
		wrong(key, message);
	// A file may carry a url for `--target existing` and still run on a laptop with `--target local`, and the other way round.
	const leftAside = (key: string) =>
		context.targetChosen && context.labelOf([...where, key]) === undefined;
	if (context.target !== undefined)
		for (const { key, message } of misplacedSettings(options, target))
			if (!leftAside(key)) wrong(key, message);

	let url: string | null = null;
	if (context.rig !== null || place === null) {
		const found =
			context.rig === null
				? existingUrl(options, where, context)
				: rigUrl(name, options, context.rig, context.env);
		if (found && "wrong" in found) wrong("url", found.wrong);
		else url = found?.url ?? null;
	}
	if (problems.length > 0) return problems;
	const starts = (at: BrokerPlace) => context.rig === null && place === at;
	return {
		broker: options.broker,
		url,
		port: starts("process") ? (common.port ?? null) : null,
		binary: starts("process") ? (common.binary ?? null) : null,
		image: starts("container") ? (common.image ?? null) : null,
		ownTopics:
			place === null && common.create === false
				? (common.topics ?? null)
				: null,
		options,
		traits,
	};
}

/** Of a broker that was there already other things follow from its options: a rig may have such ones. */
function reached(
	key: string,
	options: SystemOptions,
	{ rig }: SystemContext,
): SystemOptions {
	const found = rig?.rig.brokers.find(({ system }) => system === key);
	return found &&
		found.hosts.length === 0 &&
		isYours(rig?.rig.target) &&
		hasProcess(options)
		? { ...options, url: maskUrls(found.url ?? "") }
		: options;
}

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

/** Where the rig's broker of that name listens. null: it has none, or this broker has no address. */
function rigUrl(
	key: string,
	options: SystemOptions,
	{ path: file, rig }: GivenRig,
	env: SystemContext["env"],
): ResolvedUrl | null {
	const broker = brokerOf(options);
	const found = rig.brokers.find(({ system }) => system === key);
	if (broker.urlSchemes.length === 0 || !found || found.url === null)
		return null;
	const resolved = resolveUrl(found.url, broker, env, false);
	return "wrong" in resolved
		? { wrong: `${file}: of ${key}, ${resolved.wrong}` }
		: resolved;
}

/** Are the brokers of that target somebody else's, and up? */
function isYours(target: Target | undefined): boolean {
	return target !== undefined && targetTraits(target).place === null;
}

/** Does mqbench start the brokers? */
function isOurs({ target, rig }: SystemContext, hosts: boolean): boolean {
	return hosts || (rig === null && !isYours(target));
}

interface Refusal {
	readonly key: string;
	readonly message: string;
}

function ofDurability(
	{ durability }: SystemOptionsOfAnyBroker,
	{ title, levels, ownDurability }: Traits,
): Refusal[] {
	if (durability === undefined || levels[durability] !== undefined) return [];
	const can = LEVELS.filter((level) => levels[level] !== undefined);
	return [
		{
			key: "durability",
			message: `durability ${durability}: ${title} cannot give it; ${can.length === 0 ? `it has no levels (${ownDurability}); remove durability` : `it gives ${can.join(", ")}`}`,
		},
	];
}

function ofCluster(
	{ nodes, replicas }: SystemOptionsOfAnyBroker,
	{ title, nodes: possible, maxReplicas }: Traits,
	{ target, ours }: Pick<SystemContext, "target"> & { readonly ours: boolean },
): Refusal[] {
	const found: Refusal[] = [];
	const wrong = (key: string, message: string) => found.push({ key, message });
	if (nodes !== undefined && ours && !possible.includes(nodes))
		wrong(
			"nodes",
			`nodes ${nodes}: mqbench starts ${title} with ${possible.join(" or ")} ${possible.length === 1 && possible[0] === 1 ? "node" : "nodes"}${target && targetTraits(target).place === "host" ? "" : " on one machine"}; write nodes: ${possible.find((n) => n > nodes) ?? possible.at(-1)}, or remove it`,
		);
	if (replicas === undefined) return found;
	if (replicas > maxReplicas)
		wrong(
			"replicas",
			maxReplicas === 1
				? `replicas ${replicas}: ${title} has one copy of each topic; remove replicas`
				: `replicas ${replicas}: ${title} keeps at most ${maxReplicas} copies of a topic`,
		);
	else if (ours && replicas > (nodes ?? 1))
		wrong(
			"replicas",
			`replicas ${replicas} need as many nodes, and there ${(nodes ?? 1) === 1 ? "is one" : `are ${nodes}`}; write nodes: ${possible.find((n) => n >= replicas) ?? replicas}, or remove replicas`,
		);
	return found;
}

/** A rig has to be what the scenario asks for: figures of another broker would carry its name. */
function ofRig(
	key: string,
	options: SystemOptions,
	{ rig: given }: SystemContext,
): Refusal[] {
	if (given === null || brokerOf(options).urlSchemes.length === 0) return [];
	const { path: file, rig } = given;
	const found = rig.brokers.find(({ system }) => system === key);
	if (!found)
		return [
			{
				key: "broker",
				message: `${file} has no broker for ${key}, but for ${rig.brokers.map(({ system }) => system).join(", ")}; name the system like one of them, or leave it out`,
			},
		];
	if (found.broker !== options.broker)
		return [
			{
				key: "broker",
				message: `${file} has ${found.broker} for ${key}, and here it is ${options.broker}; write broker: ${found.broker}, or give another rig`,
			},
		];
	if (found.hosts.length > 0) return tooFewHosts(given, found, options);
	if (found.url === null)
		return [
			{
				key: "broker",
				message: `${file} has neither a url nor hosts for ${key}: its machines are not up (${rig.cloud?.phase ?? "planned"}); mqbench rigs list says what there is of it, mqbench up stands another one up`,
			},
		];
	const { durability = null } = commonOptions(options);
	// Of a broker that nobody has set up for us nothing is known, unless the file says it.
	const known = !isYours(rig.target) || found.level !== null;
	return known && durability !== found.level
		? [
				{
					key: "durability",
					message: `${file} has set ${key} up ${levelText(found.level)}, and the scenario asks for it ${levelText(durability)}; ${found.level === null ? "remove durability" : `write durability: ${found.level}`}, or stand another rig up`,
				},
			]
		: [];
}

function tooFewHosts(
	{ path: file }: GivenRig,
	{ system, hosts }: GivenRig["rig"]["brokers"][number],
	options: SystemOptions,
): Refusal[] {
	const { nodes = 1 } = commonOptions(options);
	return nodes <= hosts.length
		? []
		: [
				{
					key: "nodes",
					message: `nodes ${nodes}: ${file} has ${hosts.length === 1 ? "one host" : `${hosts.length} hosts`} for ${system}, and each node needs one of its own; write ${hosts.length === 1 ? "nodes: 1" : `at most nodes: ${hosts.length}`}, or give another rig`,
				},
			];
}

function levelText(level: string | null): string {
	return level === null
		? "without a level of durability"
		: `with durability: ${level}`;
}

function ofPin(
	{ pin }: SystemOptionsOfAnyBroker,
	{ target, platform }: SystemContext,
): Refusal[] {
	return pin !== undefined &&
		target &&
		targetTraits(target).place === "process" &&
		platform !== "linux"
		? [{ key: "pin", message: NO_PIN }]
		: [];
}

function ofImage(
	{ image, version }: SystemOptionsOfAnyBroker,
	{ target }: SystemContext,
): Refusal[] {
	return image !== undefined &&
		version !== undefined &&
		target &&
		targetTraits(target).place === "container"
		? [
				{
					key: "version",
					message:
						"version chooses the tag of the official image, and image names one; remove version, or image",
				},
			]
		: [];
}

/** Topics of the user's own: named, and with settings of their own. */
function ofCreate(
	options: SystemOptions,
	{ target }: SystemContext,
): Refusal[] {
	const { create, topics } = commonOptions(options);
	if (!isYours(target)) return [];
	if (create !== false)
		return topics === undefined
			? []
			: [
					{
						key: "topics",
						message:
							"topics names topics that are there already, and mqbench would make its own; add create: false, or remove topics (how many it makes is said under workload: topics)",
					},
				];
	if (topics === undefined)
		return [
			{
				key: "create",
				message:
					"create: false uses topics of yours, and none is named; add e.g. topics: [orders]",
			},
		];
	const found: Refusal[] = [];
	const twice = topics.find((topic, i) => topics.indexOf(topic) < i);
	if (twice !== undefined)
		found.push({
			key: "topics",
			message: `topics names "${twice}" twice; remove one of them`,
		});
	for (const key of [
		"durability",
		"replicas",
		...brokerOf(options).topicOptions,
	])
		if (options[key as keyof SystemOptions] !== undefined)
			found.push({
				key,
				message: `${key} is a setting of topics that mqbench makes, and yours (create: false) stay as they are; remove ${key}`,
			});
	return found;
}

/** Paths of the file count from its folder, wherever mqbench is started. A bare name is looked up on PATH. */
function absolute(options: SystemOptions, folder: string): SystemOptions {
	const { binary, tls } = options;
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
