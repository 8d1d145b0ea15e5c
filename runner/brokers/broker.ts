import { z } from "zod";
import type { Pattern } from "../model/pattern.ts";
import type { Level } from "../model/plan.ts";
import type { BrokerPlace } from "../model/targets.ts";
import type { Acknowledge, Delivery } from "../model/workload.ts";
import { UNIT_PATTERNS } from "../units.ts";
import type { Ports } from "./addresses.ts";
import { type ConfigRules, configProblems } from "./config.ts";
import { type Config, type Json, OF_PROCESSES, type SystemOptionsOfAnyBroker } from "./fields.ts";
import type { OmbDriver } from "./omb-driver.ts";
import type { Server } from "./server.ts";

/**
 * One kind of system that mqbench can measure: what a scenario may say of it, and what follows from that. A new one is
 * a folder here and a driver in `extensions/`, both under the same word.
 */
export interface Broker<Options = SystemOptionsOfAnyBroker> extends Server {
	/** For people: "RabbitMQ". */
	readonly title: string;
	/** What a scenario may say: a strict object with `broker: <name>`. */
	readonly options: z.ZodObject;
	/** What people and other tools call it or a mode of it, in small letters, and what to write instead. */
	readonly alsoCalled: Readonly<Record<string, string>>;
	/** Schemes of its URLs with their ports, the usual one first; empty: it has no process and no URL. */
	readonly urls: Ports;
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
	/** The driver's own options, as its Go side decodes them. No secrets. */
	driverOptions(options: Options): Readonly<Record<string, Json>>;
	/** Options that are right by themselves and wrong together, or on that target: the key at fault, and a sentence with the remedy. */
	contradictions(options: Options, place: BrokerPlace | null): readonly Contradiction[];
	/** Options, besides durability and replicas, that are settings of topics which mqbench makes: topics of the user's own keep theirs. */
	readonly topicOptions: readonly string[];
	/** Its driver takes long to compile: it is in a k6 that is built when a scenario first has such a system. Left out: it is in every k6. */
	readonly largeDriver?: true;
	/** null: OpenMessaging Benchmark has no driver for it. */
	readonly omb: OmbDriver | null;
}

type Given = "title" | "urls";
type Made = "options" | "traits" | "durability" | "driverOptions" | "contradictions" | keyof Server;

/** A broker, by what differs from most. */
interface Definition<Options>
	extends Pick<Broker<Options>, Given>,
		Partial<Omit<Broker<Options>, Given | Made>> {
	/** Left out: there is none to start. */
	readonly server?: Server;
	/** Its title, levels and durability without a level are added. */
	traits(options: Options): OwnTraits;
	/** Left out: nothing is stored. */
	stores?(options: Options): Stores;
	/** What `config` must not say. Left out: nobody reads `config`. */
	config?: ConfigRules | ((options: Options) => ConfigRules);
	/** Where the driver's options differ from the system's own, `own`. */
	driver?(own: DriverOptions, options: Options): DriverOptions;
	/** What else contradicts, by the key at fault: a sentence, or that there is nothing wrong. */
	check?(options: Options, place: BrokerPlace | null): Check;
}
export type Check = Readonly<Record<string, string | false | undefined>>;

/** What a driver gets; undefined is left out. */
type DriverOptions = Readonly<Record<string, Json | undefined>>;

/** A key that is wrong, and what to do. */
export interface Contradiction {
	readonly key: string;
	readonly message: string;
}

/** The broker with those options, and with the defaults of whatever is left out. */
export function broker<Schema extends z.ZodObject>(
	options: Schema,
	definition: Definition<z.output<Schema>>,
): Broker<z.output<Schema>> & { readonly options: Schema } {
	type Options = z.output<Schema>;
	const { config, server = NO_SERVER, traits, driver, check, ...own } = definition;
	const { stores = () => storesNothing() } = definition;
	// When they are first asked for: reading a schema takes milliseconds.
	let names: ReturnType<typeof driverNames> | undefined;
	return {
		alsoCalled: {},
		secretEnv: [],
		topicOptions: [],
		omb: null,
		...own,
		...server,
		options,
		traits(written: Options) {
			const { acknowledge = "automatic", cannot, instead, ...differing } = traits(written);
			const { levels, own: ownDurability } = stores(written);
			const noAcks = differing.acks ? {} : { publish: "it acknowledges nothing" };
			const reasons = Object.entries({ ...noAcks, ...cannot }).map(
				([pattern, reason]) => [pattern, ...[reason].flat()] as const,
			);
			return {
				...USUAL_TRAITS,
				title: own.title,
				levels,
				ownDurability,
				...differing,
				cannot: Object.fromEntries(reasons.map(([pattern, why]) => [pattern, why])),
				instead: Object.fromEntries(
					reasons.flatMap(([pattern, , remedy = instead]) => (remedy ? [[pattern, remedy]] : [])),
				),
				acknowledge:
					typeof acknowledge === "string"
						? { alone: acknowledge, group: acknowledge }
						: acknowledge,
			};
		},
		durability: (written: Options, ours) =>
			stores(written).of(written as unknown as SystemOptionsOfAnyBroker, ours),
		driverOptions(written: Options) {
			names ??= driverNames(options);
			const given: DriverOptions = Object.fromEntries(
				names.map(([key, name]) => [name, written[key] as Json | undefined]),
			);
			return defined(driver?.(given, written) ?? given);
		},
		contradictions(written: Options, place) {
			const { config: lines, version, binary } = written as unknown as SystemOptionsOfAnyBroker;
			const rules = typeof config === "function" ? config(written) : config;
			const twice = server.jars && binary !== undefined && OWN_VERSION;
			const wrong = {
				version: version !== undefined && ((place === "process" && server.onlyVersion) || twice),
				...check?.(written, place),
			};
			return [
				...(rules ? configProblems(lines, rules) : []),
				...Object.entries(wrong).flatMap(([key, message]) => (message ? { key, message } : [])),
			];
		},
	};
}

/** What an acknowledged message has been through, by the settings that are really made. */
export interface Durability {
	/** For people: "sync_interval: always (fsync)". */
	readonly text: string;
	/** Keys of `config` that have a part in it. */
	readonly by: readonly string[];
}

/** What a system does with a message before it acknowledges it. */
export interface Stores {
	/** What is set for each level, for people. Empty: nothing is stored. */
	readonly levels: Traits["levels"];
	/** What it does without a level, for people. */
	readonly own: string;
	of(options: SystemOptionsOfAnyBroker, ours: boolean): Durability;
}

/** Nothing that is acknowledged waits anywhere. */
export function storesNothing(why = "nothing is stored"): Stores {
	const own = `none, ${why}`;
	return { levels: {}, own, of: () => ({ text: own, by: [] }) };
}

interface Words {
	/** What it does without a level. */
	readonly own: string;
	/** Of a server that is not ours, without a level. Left out: that it is not known. */
	readonly unknown?: string;
	/** The driver makes the settings, whoever's the server is. Left out: they are the server's. */
	readonly byDriver?: true;
}

/** What a system stores at each level, in words: `config` has no part in it. */
export function storesAs({
	own,
	unknown = "not known (your server)",
	byDriver,
	levels,
}: Words & { readonly levels: Traits["levels"] }): Stores {
	return {
		levels,
		own: byDriver ? own : `the server's own; one that mqbench starts: ${own}`,
		of({ durability }, ours) {
			const known = ours || byDriver;
			const text = durability && levels[durability];
			if (text === undefined) return { text: known ? own : unknown, by: [] };
			return { text: `${text} (${durability}${known ? "" : ", declared, not checked"})`, by: [] };
		},
	};
}

/** What a server with settings for each level stores: in words, and as settings. Where `config` says what a level would set, its label is what is set. */
export function storesBy({
	levels,
	always = {},
	without = {},
	also = [],
	read = (config) => config,
	...words
}: Words & {
	readonly levels: Readonly<Partial<Record<Level, readonly [text: string, settings: Config]>>>;
	/** At all levels; `config` may change it. */
	readonly always?: Config;
	/** Settings without a level. Left out: none. */
	readonly without?: Config;
	/** Keys of `config` that decide as well. */
	readonly also?: readonly string[];
	/** `config` in the server's own words. Left out: as it is written. */
	read?(config: Config): Config;
}): Stores & { settings(level: Level | null, config: Config | undefined): Config } {
	const sets = [...Object.values(levels).flatMap(([, set]) => Object.keys(set)), ...also];
	const inWords = storesAs({
		...words,
		levels: Object.fromEntries(Object.entries(levels).map(([level, [text]]) => [level, text])),
	});
	const settings = (level: Level | null, config: Config = {}): Config => ({
		...always,
		...(level === null ? without : levels[level]?.[1]),
		...read(config),
	});
	return {
		...inWords,
		settings,
		of(options, ours) {
			const { durability, config = {} } = options;
			const deciding = [...(durability === undefined ? Object.keys(always) : []), ...sets];
			const by = Object.keys(config).filter((key) =>
				Object.keys(read({ [key]: "" })).some((word) => deciding.includes(word)),
			);
			if (!ours || by.length === 0) return inWords.of(options, ours);
			const text = Object.entries(settings(durability ?? null, config))
				.filter(([key]) => deciding.includes(key))
				.map(([key, value]) => `${key}: ${value}`);
			return { text: text.join(", "), by };
		},
	};
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
	readonly instead: Readonly<Partial<Record<Pattern, string>>>;
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

/** Those of a definition: what differs from most. */
export interface OwnTraits extends Partial<Omit<Traits, "acknowledge" | "cannot" | "instead">> {
	/** One word: all consumers acknowledge alike. */
	readonly acknowledge?: Acknowledge | Traits["acknowledge"];
	/** Why, or why and what to write instead. Without acknowledgements it cannot publish, either. */
	readonly cannot?: Readonly<Partial<Record<Pattern, string | readonly [string, string]>>>;
	/** What to write instead where `cannot` does not say so. */
	readonly instead?: string;
}

export const USUAL_TRAITS = {
	acks: false,
	delivery: "at-most-once",
	ordered: true,
	groupOrdered: false,
	keys: false,
	partitions: false,
	groupsByPartition: false,
	keepsOnly: null,
	wildcards: false,
	maxMessageBytes: null,
	cannot: {},
	instead: {},
	levels: {},
	prefetch: null,
	redeliverAfterNs: null,
	maxReplicas: 1,
	nodes: [1],
} as const satisfies Partial<Traits>;

// --- internal ---

const OWN_VERSION = "binary is an installation with a version of its own; remove version";

const NO_SERVER: Server = { process: null, image: null, program: null, install: null };

/** A system's own options and what its driver calls them: durations have Ns behind their names; not those that a process of any broker has. */
function driverNames(schema: z.ZodObject) {
	const { properties = {} } = z.toJSONSchema(schema, { io: "input" });
	return Object.entries(properties)
		.filter(([key]) => !OF_PROCESSES.includes(key))
		.map(([key, field]) => {
			const isSpan = (field as { pattern?: string }).pattern === UNIT_PATTERNS.duration;
			return [key, isSpan ? `${key}Ns` : key] as const;
		});
}

/** Without what was not given: a plan is JSON. */
function defined(options: DriverOptions): Record<string, Json> {
	return Object.fromEntries(
		Object.entries(options).filter((entry): entry is [string, Json] => entry[1] !== undefined),
	);
}
