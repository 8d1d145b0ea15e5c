import {
	brokerOf,
	type Durability,
	type SystemOptions,
	type Traits,
} from "../brokers/index.ts";
import { LEVELS, type Level, type Target } from "../model/plan.ts";
import { targetTraits } from "../model/targets.ts";
import { settingMistakes } from "../text/settings.ts";
import { plural } from "../units.ts";
import type { Context } from "./context.ts";
import type { GivenRig } from "./overrides.ts";
import { NO_PIN } from "./pin.ts";

/** Settings of a system that what it is, or what it runs on, refuses. `ours`: mqbench starts the broker. */
export function settingProblems(
	key: string,
	options: SystemOptions,
	traits: Traits,
	context: Starting,
): Refusal[] {
	return [
		...ofDurability(options, traits),
		...ofCluster(options, traits, context),
		...ofPin(options, context),
		...ofImage(options, context),
		...ofCreate(options, context),
		...ofRig(key, options, context),
	];
}

/** Are the brokers of that target somebody else's, and up? */
export function isYours(target: Target | undefined): boolean {
	return target !== undefined && targetTraits(target).place === null;
}

/** `durability` asks for one level, and `config` makes another of it: one of them would be on the charts, and be wrong. */
export function againstDurability(
	{ durability }: SystemOptions,
	{ level, text, by }: Durability,
): Refusal[] {
	if (durability === undefined || by.length === 0 || level === durability)
		return [];
	return [
		{
			key: "config",
			message: settingMistakes["config-against-durability"]({
				...{ level: durability, really: text, keys: by },
			}),
		},
	];
}

// --- internal ---

interface Starting extends Pick<Context, "target" | "platform" | "rig"> {
	readonly ours: boolean;
}

interface Refusal {
	readonly key: string;
	readonly message: string;
}

function ofDurability(
	{ durability }: SystemOptions,
	{ title, levels, ownDurability }: Traits,
): Refusal[] {
	if (durability === undefined || levels[durability] !== undefined) return [];
	const can = LEVELS.filter((level) => levels[level] !== undefined);
	return [
		{
			key: "durability",
			message: `${title} has no durability: ${durability} (${can.length === 0 ? ownDurability : `it has ${can.join(", ")}`}); ${can.length === 0 ? "remove durability" : `write durability: ${nearest(durability, can)}`}`,
		},
	];
}

/** The level that promises at least as much, else the highest. */
function nearest(level: Level, can: readonly Level[]): Level {
	const higher = LEVELS.slice(LEVELS.indexOf(level));
	return higher.find((one) => can.includes(one)) ?? can.at(-1) ?? level;
}

function ofCluster(
	{ nodes, replicas }: SystemOptions,
	{ title, nodes: possible, maxReplicas }: Traits,
	{ ours }: Starting,
): Refusal[] {
	const found: Refusal[] = [];
	const wrong = (key: string, message: string) => found.push({ key, message });
	if (nodes !== undefined && ours && !possible.includes(nodes))
		wrong(
			"nodes",
			`mqbench starts ${title} with ${possible.join(" or ")} ${possible.length === 1 && possible[0] === 1 ? "node" : "nodes"}, not ${nodes}; write nodes: ${possible.find((n) => n > nodes) ?? possible.at(-1)}`,
		);
	if (replicas === undefined) return found;
	if (replicas > maxReplicas)
		wrong(
			"replicas",
			maxReplicas === 1
				? `${title} keeps one copy of each topic; remove replicas`
				: `${title} keeps at most ${maxReplicas} copies of a topic; write replicas: ${maxReplicas}`,
		);
	else if (ours && replicas > (nodes ?? 1))
		wrong(
			"replicas",
			`${replicas} replicas need as many nodes, and there ${(nodes ?? 1) === 1 ? "is one" : `are ${nodes}`}; write nodes: ${possible.find((n) => n >= replicas) ?? replicas}`,
		);
	return found;
}

/** A rig has to be what the scenario asks for: figures of another broker would carry its name. */
function ofRig(
	key: string,
	options: SystemOptions,
	{ rig: given }: Starting,
): Refusal[] {
	if (given === null || brokerOf(options).urlSchemes.length === 0) return [];
	const { path: file, rig } = given;
	const found = rig.brokers.find(({ system }) => system === key);
	if (!found)
		return [
			{
				key: "broker",
				message: `${file} has no broker for ${key}; rename this system to one that it has: ${rig.brokers.map(({ system }) => system).join(", ")}`,
			},
		];
	if (found.broker !== options.broker)
		return [
			{
				key: "broker",
				message: `${file} has ${found.broker} for ${key}, not ${options.broker}; write broker: ${found.broker}`,
			},
		];
	if (found.hosts.length > 0) return tooFewHosts(given, found, options);
	if (found.url === null)
		return [
			{
				key: "broker",
				message: `${file} has no machines for ${key} (${rig.cloud?.phase ?? "planned"}); run mqbench up to make a new rig`,
			},
		];
	const { durability = null } = options;
	// Of a broker that nobody has set up for us nothing is known, unless the file says it.
	const known = !isYours(rig.target) || found.level !== null;
	return known && durability !== found.level
		? [
				{
					key: "durability",
					message: `${file} has ${key} ${levelText(found.level)}, and this scenario has it ${levelText(durability)}; ${found.level === null ? "remove durability" : `write durability: ${found.level}`}`,
				},
			]
		: [];
}

function tooFewHosts(
	{ path: file }: GivenRig,
	{ system, hosts }: GivenRig["rig"]["brokers"][number],
	options: SystemOptions,
): Refusal[] {
	const { nodes = 1 } = options;
	return nodes <= hosts.length
		? []
		: [
				{
					key: "nodes",
					message: `nodes ${nodes}: each node needs a host, and ${file} has ${plural(hosts.length, "host")} for ${system}; write ${hosts.length === 1 ? "" : "at most "}nodes: ${hosts.length}`,
				},
			];
}

function levelText(level: string | null): string {
	return level === null ? "without durability" : `with durability: ${level}`;
}

function ofPin(
	{ pin }: SystemOptions,
	{ target, platform }: Starting,
): Refusal[] {
	return pin !== undefined &&
		target &&
		targetTraits(target).place === "process" &&
		platform !== "linux"
		? [{ key: "pin", message: NO_PIN }]
		: [];
}

function ofImage(
	{ image, version }: SystemOptions,
	{ target }: Starting,
): Refusal[] {
	return image !== undefined &&
		version !== undefined &&
		target &&
		targetTraits(target).place === "container"
		? [
				{
					key: "version",
					message: "image already has a tag; remove version",
				},
			]
		: [];
}

/** Topics of the user's own: named, and with settings of their own. */
function ofCreate(options: SystemOptions, { target }: Starting): Refusal[] {
	const { create, topics } = options;
	if (!isYours(target)) return [];
	if (create !== false)
		return topics === undefined
			? []
			: [
					{
						key: "topics",
						message:
							"topics names existing topics, but mqbench makes its own; add create: false to use yours",
					},
				];
	if (topics === undefined)
		return [
			{
				key: "create",
				message:
					"create: false needs the names of your topics; add e.g. topics: [orders]",
			},
		];
	const found: Refusal[] = [];
	const twice = topics.find((topic, i) => topics.indexOf(topic) < i);
	if (twice !== undefined)
		found.push({
			key: "topics",
			message: `topics has "${twice}" twice; remove one of them`,
		});
	for (const key of [
		"durability",
		"replicas",
		...brokerOf(options).topicOptions,
	])
		if (options[key as keyof SystemOptions] !== undefined)
			found.push({
				key,
				message: `${key} is set when a topic is made, and create: false uses yours; remove ${key}`,
			});
	return found;
}
