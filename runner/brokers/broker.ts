import type { z } from "zod";
import type { Pattern } from "../model/pattern.ts";
import type { Level } from "../model/plan.ts";
import type { BrokerPlace } from "../model/targets.ts";
import type { Acknowledge, Delivery } from "../model/workload.ts";
import type { Ports } from "./addresses.ts";
import { type ConfigRules, configProblems } from "./config.ts";
import { defined, type Json, type SystemOptionsOfAnyBroker, versionProblems } from "./fields.ts";
import type { BrokerInstall } from "./install.ts";
import type { Jars } from "./jars.ts";
import type { OmbDriver } from "./omb-driver.ts";
import type { BrokerProcess } from "./process.ts";

/**
 * One kind of system that mqbench can measure: what a scenario may say of it, and what follows from that. A new one is
 * a folder here and a driver in `extensions/`, both under the same word.
 */
export interface Broker<Options = SystemOptionsOfAnyBroker> extends Ports {
	/** For people: "RabbitMQ". */
	readonly title: string;
	/** What a scenario may say: a strict object with `broker: <name>`. */
	readonly options: z.ZodObject;
	/** What people and other tools call it or a mode of it, in small letters, and what to write instead. */
	readonly alsoCalled: Readonly<Record<string, string>>;
	/** Schemes of its URLs, the usual one first; empty: it has no process and no URL. */
	readonly urlSchemes: readonly string[];
	/** Who stands before a password in its URLs; left out: "user". */
	readonly urlUser?: string;
	/** With these options it has no server: its clients are connected to each other. Left out: it always has one, if it has a process. */
	brokerless?(options: Options): boolean;
	/** Environment variables that its driver reads, besides the URL's: secrets that have no place in a URL (a token, a path of credentials). */
	readonly secretEnv: readonly string[];
	/** What a system with these options is and promises. */
	traits(options: Options): Traits;
	/** What its settings come to: the label of its charts. `ours`: mqbench starts the server, with `config`. */
	durability(options: Options, ours: boolean): Durability;
	/** The text of `durability`, now that the server has said which version it is: "RabbitMQ 3.10.8". Left out: the version changes nothing. */
	durabilityOn?(text: string, server: string): string;
	/** The driver's own options, as its Go side decodes them; what is undefined is left out. No secrets. */
	driverOptions(options: Options): Readonly<Record<string, Json>>;
	/** Options that are right by themselves and wrong together, or on that target: the key at fault, and a sentence with the remedy. */
	contradictions(options: Options, place: BrokerPlace | null): readonly Contradiction[];
	/** Options, besides durability and replicas, that are settings of topics which mqbench makes: topics of the user's own keep theirs. */
	readonly topicOptions: readonly string[];
	/** How it is run; null: it has no process, and then no image and no installation. */
	readonly process: BrokerProcess | null;
	readonly image: OfficialImage | null;
	/** Program of Go that mqbench builds for it; null: none. */
	readonly program: BuiltProgram | null;
	readonly install: BrokerInstall | null;
	/** Its driver takes long to compile: it is in a k6 that is built when a scenario first has such a system. Left out: it is in every k6. */
	readonly largeDriver?: true;
	/** What Maven fetches for it. Left out: nothing. */
	readonly jars?: readonly Jars[];
	/** null: OpenMessaging Benchmark has no driver for it. */
	readonly omb: OmbDriver | null;
}

type Given = "title" | "urlSchemes" | "defaultPort" | "traits" | "durability";

/** A broker, by what differs from most. */
type Room<Options> = Pick<Broker<Options>, Given> &
	Partial<Omit<Broker<Options>, Given | "options" | "driverOptions" | "contradictions">> & {
		/** What `config` must not say. Left out: nobody reads `config`. */
		config?: ConfigRules | ((options: Options) => ConfigRules);
		/** A program that mqbench has in one version only: `version` has no meaning for a process. Left out: it has. */
		readonly oneVersion?: Parameters<typeof versionProblems>[2];
		/** What undefined values are left out of. */
		driverOptions?(options: Options): Readonly<Record<string, Json | undefined>>;
		/** Tells `wrong` what else contradicts. */
		check?(options: Options, place: BrokerPlace | null, wrong: Wrong): void;
	};
type Wrong = (key: string, message: string) => void;

/** A key that is wrong, and what to do. */
export interface Contradiction {
	readonly key: string;
	readonly message: string;
}

/** The broker with those options, and with the defaults of whatever is left out. */
export function broker<Schema extends z.ZodObject>(
	options: Schema,
	{ config, oneVersion, driverOptions, check, ...room }: Room<z.output<Schema>>,
): Broker<z.output<Schema>> & { readonly options: Schema } {
	return {
		alsoCalled: {},
		secretEnv: [],
		topicOptions: [],
		process: null,
		image: null,
		program: null,
		install: null,
		omb: null,
		...room,
		options,
		driverOptions: (written) => defined(driverOptions?.(written) ?? {}),
		contradictions(written, place) {
			const { config: lines, version } = written as SystemOptionsOfAnyBroker;
			const rules = typeof config === "function" ? config(written) : config;
			const problems: Contradiction[] = [
				...(rules ? configProblems(lines, rules) : []),
				...(oneVersion ? versionProblems(version, place, oneVersion) : []),
			];
			check?.(written, place, (key, message) => problems.push({ key, message }));
			return problems;
		},
	};
}

/**
 * The official image: the version that a scenario gets when it names none, and what stands around it in the tag. It is pinned: a run of next
 * year measures the same server, unless the scenario says otherwise.
 */
export interface OfficialImage {
	readonly name: string;
	readonly version: string;
	readonly suffix: string;
}

/** What an acknowledged message has been through, by the settings that are really made. */
export interface Durability {
	/** The least that is certain; null: nothing is stored, or it is not known. */
	readonly level: Level | null;
	/** For people: "sync_interval: always (fsync)". */
	readonly text: string;
	/** Keys of `config` that have a part in it. */
	readonly by: readonly string[];
}

/** How the settings of a server decide what a message has been through. */
interface DurabilityRules<Settings> {
	/** What it does without a level, and without settings that decide it: in memory, unless `ownLevel` says more. */
	readonly own: string;
	readonly ownLevel?: Level;
	/** Of a server that is not ours, without a level. Left out: that it is not known. */
	readonly unknown?: string;
	/** By level. */
	readonly levels: Readonly<Partial<Record<Level, Settings>>>;
	/** Does this key of `config` have a part in it? */
	decides(key: string): boolean;
	settings(level: Level | null, config: SystemOptionsOfAnyBroker["config"]): Settings;
	/** null: it will not start with them. */
	levelOf(settings: Settings): Level | null;
	textOf(settings: Settings): string;
}

/** `durability` of a server whose settings for each level `config` may overrule, and its levels for people. */
export function durabilityBy<Settings>(rules: DurabilityRules<Settings>) {
	const { own, ownLevel = "memory", unknown = "not known (your server)", textOf } = rules;
	const levels: Readonly<Partial<Record<Level, string>>> = Object.fromEntries(
		Object.entries(rules.levels).map(([level, settings]) => [level, textOf(settings as Settings)]),
	);
	return {
		levels,
		durability({ durability, config = {} }: SystemOptionsOfAnyBroker, ours: boolean): Durability {
			if (!ours)
				return durability === undefined
					? { level: null, text: unknown, by: [] }
					: declared(durability, levels[durability] ?? "");
			const by = Object.keys(config).filter(rules.decides);
			if (durability === undefined && by.length === 0) return { level: ownLevel, text: own, by };
			const settings = rules.settings(durability ?? null, config);
			const level = rules.levelOf(settings);
			const text = textOf(settings);
			return { level, text: level === null ? text : `${text} (${level})`, by };
		},
	};
}

/** Settings of a server that is not ours: what the scenario says of them, unchecked. */
export function declared(level: Level, text: string): Durability {
	return { level, text: `${text} (${level}, declared, not checked)`, by: [] };
}

/** What follows from a system's options, before anything runs. */
export interface Traits {
	/** For people: "NATS core", "JetStream", "Kafka". */
	readonly title: string;
	/** It confirms each message to the sender: only then does `ack` exist. */
	readonly acks: boolean;
	/** What it promises of each message; to a consumer that shares with nobody (round-trip, fan-out, replies), where that is another. */
	readonly delivery: Delivery;
	readonly deliveryAlone?: Delivery;
	/** When consumers acknowledge: those that share with nobody, and members of a group. */
	readonly acknowledge: { readonly alone: Acknowledge; readonly group: Acknowledge };
	/** It keeps the order of one producer's messages to one partition, or with one key. */
	readonly ordered: boolean;
	/** It does so also where the members of a group share the messages. */
	readonly groupOrdered: boolean;
	/** Messages have keys that mean something to it; topics have partitions. */
	readonly keys: boolean;
	readonly partitions: boolean;
	/** In a group each partition has one member: those beyond their number get nothing. */
	readonly groupsByPartition: boolean;
	/** A topic keeps so many messages, or as many as have so many bytes if that is more: those before them are lost to whoever is further behind; null: it keeps all. */
	readonly keepsOnly: {
		readonly messages: number;
		readonly bytes: number;
		/** The option that says so. */
		readonly option: string;
		/** The option limits bytes; else messages. */
		readonly inBytes?: true;
	} | null;
	/** A subscription may be a pattern. */
	readonly wildcards: boolean;
	/** Largest message that it takes, by `config` or else as mqbench sets it up; null: no limit. */
	readonly maxMessageBytes: number | null;
	/** The same to the byte for a topic, where its name counts towards the limit. Left out: it does not. */
	readonly maxMessageBytesTo?: (topic: string) => number;
	/** Why it cannot do a pattern, as the end of a sentence ("nothing is stored"); patterns not named it can. */
	readonly cannot: Readonly<Partial<Record<Pattern, string>>>;
	/** What the system could be told so that it can ("write confirms: true"), by pattern; absent: nothing. */
	readonly instead?: Readonly<Partial<Record<Pattern, string>>>;
	/** Several responders may share a topic of requests, although there are no work queues. Left out: as work queues. */
	readonly respondersShare?: true;
	/** Durability levels that it can give: what is set for each, for people ("sync_interval: always"). Empty: nothing is stored. */
	readonly levels: Readonly<Partial<Record<Level, string>>>;
	/** What it does without a level, for people: "interval 2m (default)"; "none, nothing is stored". */
	readonly ownDurability: string;
	/** Most messages that a member of a group holds and has not acknowledged; null: there is no such number. */
	readonly prefetch: number | null;
	/** A message that its consumer has held for so long is handed out again, ns; null: never while its connection lives. */
	readonly redeliverAfterNs: number | null;
	/** Most replicas of a topic; 1: it has none. */
	readonly maxReplicas: number;
	/** Nodes that mqbench can start. */
	readonly nodes: readonly number[];
	/** What its service bills for a request, USD. Left out: nobody pays by the request. */
	readonly requestUsd?: number;
	/** It runs on a JVM, which is slow until it has compiled what is used often. Left out: it does not. */
	readonly jvm?: true;
}

/** Those of a system that differs from most in these. */
export function traits(
	differing: Pick<Traits, "title" | "acks" | "delivery" | "acknowledge" | "ownDurability"> &
		Partial<Traits>,
): Traits {
	return {
		ordered: true,
		groupOrdered: false,
		keys: false,
		partitions: false,
		groupsByPartition: false,
		keepsOnly: null,
		wildcards: false,
		maxMessageBytes: null,
		cannot: {},
		levels: {},
		prefetch: null,
		redeliverAfterNs: null,
		maxReplicas: 1,
		nodes: [1],
		...differing,
	};
}

/** A program of Go: a module below `extensions/`, which pins all that goes into it, the package that is built, and its file's name. */
export interface BuiltProgram {
	readonly name: string;
	readonly module: string;
	readonly package: string;
	/** Build tags. Left out: none. */
	readonly tags?: string;
	/** It is built when a broker first asks for it. Left out: with k6, before the first run. */
	readonly whenNeeded?: true;
}

/** Such a program as an installation. `remark`: what people are to know of it. */
export function brought({ name, whenNeeded }: BuiltProgram, remark = ""): BrokerInstall {
	const when = whenNeeded ? "by mqbench when it is first needed" : "with mqbench";
	return {
		from: `${name}, built ${when}; or \`binary: /path/to/${name}\``,
		look: async () => ({
			here: true,
			figure: whenNeeded ? "built when needed" : "built in",
			sentence: `mqbench brings ${name}${remark}; binary names another build.`,
		}),
	};
}
