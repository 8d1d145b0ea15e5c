import { imageAt } from "../brokers/image.ts";
import {
	brokerOf,
	type Durability,
	hasProcess,
	type SystemOptions,
	type Traits,
} from "../brokers/index.ts";
import { glob } from "../model/glob.ts";
import { LEVELS, type Level, type Target } from "../model/plan.ts";
import { isImaged, targetTraits } from "../model/targets.ts";
import { type Telling, type Told, tell } from "../text/tell.ts";
import type { Context } from "./context.ts";
import type { GivenRig } from "./overrides.ts";

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
	if (durability === undefined || by.length === 0 || level === durability) return [];
	return [
		refusal("config", "config-against-durability", {
			level: durability,
			really: text,
			keys: by.join(" and "),
		}),
	];
}

// --- internal ---

/** Whether a pattern of "system/case" may choose runs of the system. */
function runs(key: string, only = "*"): boolean {
	const [system = "", ...cases] = only.split("/");
	return cases.length === 0 || glob(system).test(key);
}

interface Starting extends Pick<Context, "target" | "targetChosen" | "platform" | "rig"> {
	readonly ours: boolean;
}

interface Refusal {
	readonly key: string;
	readonly message: string;
}

function refusal<C extends Told>(key: string, code: C, ...values: Telling<C>): Refusal {
	return { key, message: tell(code, ...values) };
}

function ofDurability(
	{ durability }: SystemOptions,
	{ title, levels, ownDurability }: Traits,
): Refusal[] {
	if (durability === undefined || levels[durability] !== undefined) return [];
	const can = LEVELS.filter((level) => levels[level] !== undefined);
	return [
		can.length === 0
			? refusal("durability", "no-durability", { title, durability, ownDurability })
			: refusal("durability", "no-such-durability", {
					title,
					durability,
					can,
					nearest: nearest(durability, can),
				}),
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
	const refusals: Refusal[] = [];
	if (nodes !== undefined && ours && !possible.includes(nodes))
		refusals.push(
			refusal("nodes", "number-of-nodes", {
				title,
				nodes,
				possible: possible.join(" or "),
				noun: possible.length === 1 && possible[0] === 1 ? "node" : "nodes",
				write: possible.find((n) => n > nodes) ?? possible.at(-1),
			}),
		);
	if (replicas === undefined) return refusals;
	if (replicas > maxReplicas)
		refusals.push(
			maxReplicas === 1
				? refusal("replicas", "one-copy", { title })
				: refusal("replicas", "too-many-copies", { title, maxReplicas }),
		);
	else if (ours && replicas > (nodes ?? 1))
		refusals.push(
			refusal("replicas", "replicas-beyond-nodes", {
				replicas,
				are: (nodes ?? 1) === 1 ? "is one" : `are ${nodes}`,
				write: possible.find((n) => n >= replicas) ?? replicas,
			}),
		);
	return refusals;
}

/** A rig has to be what the scenario asks for: figures of another broker would carry its name. */
function ofRig(key: string, options: SystemOptions, { rig: given }: Starting): Refusal[] {
	if (given === null || !hasProcess(options)) return [];
	const { path: file, rig } = given;
	const entry = rig.brokers.find(({ system }) => system === key);
	const there = { rig: file, system: key };
	if (!entry && !runs(key, given.only)) return [];
	if (!entry)
		return [
			refusal("broker", "rig-without-broker", {
				...there,
				systems: rig.brokers.map(({ system }) => system),
			}),
		];
	if (entry.broker !== options.broker)
		return [
			refusal("broker", "rig-other-broker", {
				...there,
				broker: entry.broker,
				written: options.broker,
			}),
		];
	if (entry.hosts.length > 0) return tooFewHosts(given, entry, options);
	if (entry.url === null) return [refusal("broker", "rig-without-machines", there)];
	const { durability = null } = options;
	// Of a broker that nobody has set up for us nothing is known, unless the file says it.
	const known = !isYours(rig.target) || entry.level !== null;
	return known && durability !== entry.level
		? [
				refusal("durability", "rig-other-durability", {
					...there,
					found: levelText(entry.level),
					asked: levelText(durability),
					write: entry.level === null ? "remove durability" : `write durability: ${entry.level}`,
				}),
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
		: [refusal("nodes", "nodes-beyond-rig", { nodes, rig: file, hosts: hosts.length, system })];
}

function levelText(level: string | null): string {
	return level === null ? "without durability" : `with durability: ${level}`;
}

function ofPin({ pin }: SystemOptions, { target, platform }: Starting): Refusal[] {
	return pin !== undefined &&
		target &&
		targetTraits(target).place === "process" &&
		platform !== "linux"
		? [refusal("pin", "pin-needs-linux")]
		: [];
}

function ofImage(options: SystemOptions, { target, targetChosen }: Starting): Refusal[] {
	const { image, version } = options;
	const place = target ? targetTraits(target).place : null;
	if (!isImaged(place) && place !== "host") return [];
	if (image !== undefined && version !== undefined)
		return [refusal("version", "image-and-version")];
	const contained = imageAt(place, { image: image ?? null, options }) !== null;
	// A file may carry limits for target docker, and still run elsewhere.
	return contained || targetChosen || !hasProcess(options)
		? []
		: (["cpus", "memory"] as const)
				.filter((key) => options[key] !== undefined)
				.map((key) => refusal(key, "limit-without-container", { key }));
}

/** Topics of the user's own: named, and with settings of their own. */
function ofCreate(options: SystemOptions, { target }: Starting): Refusal[] {
	const { create, topics } = options;
	if (!isYours(target)) return [];
	if (create !== false) return topics === undefined ? [] : [refusal("topics", "topics-of-mqbench")];
	if (topics === undefined) return [refusal("create", "create-without-topics")];
	const refusals: Refusal[] = [];
	const twice = topics.find((topic, i) => topics.indexOf(topic) < i);
	if (twice !== undefined) refusals.push(refusal("topics", "topic-twice", { topic: twice }));
	for (const key of ["durability", "replicas", ...brokerOf(options).topicOptions])
		if (options[key as keyof SystemOptions] !== undefined)
			refusals.push(refusal(key, "yours-option", { option: key }));
	return refusals;
}
