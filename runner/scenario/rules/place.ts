import {
	brokerOf,
	type Durability,
	hasProcess,
	imageAt,
	type SystemOptions,
	type Traits,
} from "../../brokers/index.ts";
import { glob } from "../../model/glob.ts";
import { LEVELS, type Level } from "../../model/plan.ts";
import {
	isImaged,
	SYSTEM_SETTINGS,
	type TargetName,
	targetsThat,
	targetTraits,
} from "../../model/targets.ts";
import type { Context, Wrong } from "../problem.ts";
import { rigBroker } from "../rig.ts";

/** `ours`: mqbench starts the broker. */
interface Starting extends Pick<Context, "targetChosen" | "platform" | "rig"> {
	readonly key: string;
	readonly options: SystemOptions;
	readonly traits: Traits;
	readonly durability: Durability;
	readonly target: TargetName;
	readonly ours: boolean;
}

export function checkSettings(starting: Starting, wrong: Wrong): void {
	const { options, target, targetChosen, platform } = starting;
	const { place } = targetTraits(target);
	checkLevel(starting, wrong);
	checkCluster(starting, wrong);
	if (options.pin !== undefined && place === "process" && platform !== "linux")
		wrong("pin", "pin-needs-linux");
	if (isImaged(place) || place === "host") {
		const { image = null, version } = options;
		if (image !== null && version !== undefined) wrong("version", "image-and-version");
		// A scenario may have limits for target docker and still run elsewhere.
		else if (imageAt(place, { image, options }) === null && !targetChosen && hasProcess(options))
			for (const limit of ["cpus", "memory"] as const)
				if (options[limit] !== undefined) wrong(limit, "limit-without-container", { key: limit });
	}
	if (isYours(target)) checkTopics(options, wrong);
	checkRig(starting, wrong);
}

/** Does the user already run the brokers of this target? */
export function isYours(target: TargetName | undefined): boolean {
	return target !== undefined && targetTraits(target).place === null;
}

/** Reports settings that the target does not support, and how to move a scenario between targets. */
export function checkTarget(
	options: SystemOptions,
	target: TargetName,
	leftAside: (key: string) => boolean,
	wrong: Wrong,
): void {
	for (const key of SYSTEM_SETTINGS) {
		const instead = targetTraits(target).without[key];
		const value = options[key];
		if (instead === undefined || value === undefined || value === DEFAULTS[key] || leftAside(key))
			continue;
		const on = targetsThat(({ without }) => without[key] === undefined);
		wrong(key, "needs-target", { key, targets: on, target, instead });
	}
}

// --- internal ---

/** These values mean the same as leaving the key out. */
const DEFAULTS: Readonly<Record<string, unknown>> = { create: true, tls: false };

function checkLevel({ options, traits, durability: { by } }: Starting, wrong: Wrong): void {
	const { durability } = options;
	const { title, levels, ownDurability } = traits;
	if (durability === undefined) return;
	if (by.length > 0)
		wrong("config", "config-against-durability", { durability, keys: by.join(" and ") });
	if (levels[durability] !== undefined) return;
	const can = LEVELS.filter((level) => levels[level] !== undefined);
	// The lowest level that promises at least as much, else the highest.
	const higher = LEVELS.slice(LEVELS.indexOf(durability));
	const nearest = higher.find((one) => can.includes(one)) ?? can.at(-1);
	if (nearest) wrong("durability", "no-such-durability", { title, durability, can, nearest });
	else wrong("durability", "no-durability", { title, durability, ownDurability });
}

function checkCluster({ options, traits, ours }: Starting, wrong: Wrong): void {
	const { nodes, replicas = 0 } = options;
	const { title, nodes: possible, maxReplicas } = traits;
	if (nodes !== undefined && ours && !possible.includes(nodes))
		wrong("nodes", "number-of-nodes", { title, nodes, possible: possible.join(" or ") });
	if (replicas > maxReplicas) wrong("replicas", "too-many-copies", { title, maxReplicas });
	else if (ours && replicas > (nodes ?? 1)) {
		const write = possible.find((n) => n >= replicas) ?? replicas;
		wrong("replicas", "replicas-beyond-nodes", { replicas, nodes: nodes ?? 1, write });
	}
}

/** A rig must match the scenario, or another broker's figures would carry its name. */
function checkRig({ key, options, rig: given }: Starting, wrong: Wrong): void {
	if (given === null || !hasProcess(options)) return;
	const { brokers, target } = given.rig;
	const entry = rigBroker(given.rig, key);
	const at = { rig: given.path, system: key };
	const { nodes = 1, durability: level = null } = options;
	if (!entry) {
		// A pattern without "/" may match runs of any system.
		const [wanted = "", ...cases] = (given.only ?? "*").split("/");
		if (cases.length === 0 || glob(wanted).test(key))
			wrong("broker", "rig-without-broker", { ...at, systems: brokers.map((one) => one.system) });
	} else if (entry.broker !== options.broker)
		wrong("broker", "rig-other-broker", { ...at, broker: entry.broker, written: options.broker });
	else if (entry.hosts.length > 0) {
		if (nodes > entry.hosts.length)
			wrong("nodes", "nodes-beyond-rig", { ...at, nodes, hosts: entry.hosts.length });
	} else if (entry.url === null) wrong("broker", "rig-without-machines", at);
	// Without a level in its file, a broker that the user set up may have any.
	else if (level !== entry.level && (!isYours(target) || entry.level !== null))
		wrong("durability", "rig-other-durability", {
			...at,
			found: levelText(entry.level),
			asked: levelText(level),
			write: entry.level === null ? "remove durability" : `write durability: ${entry.level}`,
		});
}

function levelText(level: Level | null): string {
	return level === null ? "without durability" : `with durability: ${level}`;
}

function checkTopics(options: SystemOptions, wrong: Wrong): void {
	const { create, topics } = options;
	if (create !== false) {
		if (topics !== undefined) wrong("topics", "topics-of-mqbench");
	} else if (topics === undefined) wrong("create", "create-without-topics");
	else {
		const twice = topics.find((topic, i) => topics.indexOf(topic) < i);
		if (twice !== undefined) wrong("topics", "topic-twice", { topic: twice });
		for (const key of ["durability", "replicas", ...brokerOf(options).topicOptions])
			if (options[key as keyof SystemOptions] !== undefined)
				wrong(key, "yours-option", { option: key });
	}
}
