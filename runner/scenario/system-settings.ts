import { brokerOf, type SystemOptions, type Traits } from "../brokers/index.ts";
import { LEVELS, type Target } from "../model/plan.ts";
import { targetTraits } from "../model/targets.ts";
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
			message: `durability ${durability}: ${title} cannot give it; ${can.length === 0 ? `it has no levels (${ownDurability}); remove durability` : `it gives ${can.join(", ")}`}`,
		},
	];
}

function ofCluster(
	{ nodes, replicas }: SystemOptions,
	{ title, nodes: possible, maxReplicas }: Traits,
	{ target, ours }: Starting,
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
	{ rig: given }: Starting,
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
	const { durability = null } = options;
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
	const { nodes = 1 } = options;
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
					message:
						"version chooses the tag of the official image, and image names one; remove version, or image",
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
