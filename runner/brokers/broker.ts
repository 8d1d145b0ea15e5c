import { z } from "zod";
import type { Pattern } from "../model/load.ts";
import type { Level } from "../model/plan.ts";
import type { BrokerPlace } from "../model/targets.ts";
import type { Acknowledge, Delivery } from "../model/workload.ts";
import { UNIT_PATTERNS } from "../units.ts";
import type { Ports } from "./addresses.ts";
import { type ConfigRules, configProblems } from "./config.ts";
import { type Config, type Json, OF_PROCESSES, type SystemOptionsOfAnyBroker } from "./fields.ts";
import type { OmbDriver } from "./omb-driver.ts";
import type { Server } from "./server.ts";

/** A kind of system that mqbench measures: a folder here and a driver in `extensions/`, both of the same name. */
export interface Broker<Options = SystemOptionsOfAnyBroker> extends Server {
	readonly title: string;
	/** A strict object with `broker: <name>`. */
	readonly options: z.ZodObject;
	/** Other names for it or one of its modes, lowercase, with the text to write for each. */
	readonly alsoCalled: Readonly<Record<string, string>>;
	/** Empty if it has no process and so no URL. */
	readonly urls: Ports;
	/** User name in example URLs with a password. Default: "user". */
	readonly urlUser?: string;
	/** Its clients connect to each other, without a server. */
	brokerless?(options: Options): boolean;
	/** Environment variables with secrets that do not fit in a URL, such as a token. `options`: its own, or the driver's. */
	secretEnv(options: object): readonly string[];
	traits(options: Options): Traits;
	/** `ours`: mqbench starts the server, with `config`. */
	durability(options: Options, ours: boolean): Durability;
	/** Refines the text of `durability` once the version has been read (`server`: "RabbitMQ 3.10.8"). */
	durabilityOn?(text: string, server: string): string;
	/** As the Go driver decodes them, without secrets. */
	driverOptions(options: Options): Readonly<Record<string, Json>>;
	/** Options that conflict with each other or with the target. */
	contradictions(
		options: Options,
		place: BrokerPlace | null,
	): readonly { readonly key: string; readonly message: string }[];
	/** Options other than durability and replicas that only apply to topics which mqbench creates. */
	readonly topicOptions: readonly string[];
	/** Its driver is in the k6 that is built before the first run. Another k6, with all drivers, is built when it is first needed. */
	readonly firstDriver?: true;
	/** Its driver is in no other k6: it is built when a scenario first has the system. */
	readonly apart?: true;
	readonly omb: OmbDriver | null;
	/** Its own metrics: `counters` matches numbers without a type that only grow, `show` is for charts (`*`: any text). */
	readonly metrics?: { readonly counters?: RegExp; readonly show: readonly string[] };
}

type Given = "title" | "urls";
type Made = "options" | "traits" | "durability" | "driverOptions" | "contradictions" | keyof Server;

/** A broker, reduced to its differences from the defaults. */
interface Definition<Options>
	extends Pick<Broker<Options>, Given>,
		Partial<Omit<Broker<Options>, Given | Made>> {
	readonly server?: Server;
	/** `broker` adds title, levels and the durability without a level. */
	traits(options: Options): OwnTraits;
	stores?(options: Options): Stores;
	/** Omitted if the broker has no `config`. */
	config?: ConfigRules | ((options: Options) => ConfigRules);
	/** For editors and the reference. */
	readonly configExample?: Config;
	/** Changes `own`, the system's options under the driver's names. */
	driver?(own: DriverOptions, options: Options): DriverOptions;
	/** Message by the key at fault. */
	check?(options: Options, place: BrokerPlace | null): Check;
}
export type Check = Readonly<Record<string, string | false | undefined>>;
type DriverOptions = Readonly<Record<string, Json | undefined>>;

export function broker<Schema extends z.ZodObject>(
	options: Schema,
	definition: Definition<z.output<Schema>>,
): Broker<z.output<Schema>> & { readonly options: Schema } {
	type Options = z.output<Schema>;
	const { config, configExample, server = NO_SERVER, traits, driver, check, ...own } = definition;
	const { stores = () => storesNothing() } = definition;
	// Computed on first use because converting a schema takes milliseconds.
	let names: ReturnType<typeof driverNames> | undefined;
	return {
		alsoCalled: {},
		secretEnv: () => [],
		topicOptions: [],
		omb: null,
		...own,
		...server,
		options: withExamples(options, {
			port: Object.values(own.urls)[0],
			version: server.image?.version,
			config: configExample,
		}),
		traits(written: Options) {
			const { acknowledge = "automatic", cannot, instead, dials, ...differing } = traits(written);
			const { levels, own: ownDurability } = stores(written);
			const noAcks = differing.acks ? {} : { publish: "it acknowledges nothing" };
			const noDial = dials ? {} : { connect: NO_DIAL };
			const reasons = Object.entries({ ...noAcks, ...noDial, ...cannot }).map(
				([pattern, reason]) => [pattern, ...[reason].flat()] as const,
			);
			return {
				...USUAL_TRAITS,
				title: own.title,
				levels,
				ownDurability,
				killedAfterNs: differing.redeliverAfterNs ?? 0,
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
			// A plan is JSON, which has no undefined.
			return Object.fromEntries(
				Object.entries(driver?.(given, written) ?? given).filter(
					(entry): entry is [string, Json] => entry[1] !== undefined,
				),
			);
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

/** The state of an acknowledged message under the effective settings. */
export interface Durability {
	/** "sync_interval: always (fsync)" */
	readonly text: string;
	readonly by: readonly string[];
}

/** How a system stores a message before it acknowledges it. */
export interface Stores {
	readonly levels: Traits["levels"];
	readonly own: string;
	of(options: SystemOptionsOfAnyBroker, ours: boolean): Durability;
}

export function storesNothing(why = "nothing is stored"): Stores {
	const own = `none, ${why}`;
	return { levels: {}, own, of: () => ({ text: own, by: [] }) };
}

interface Words {
	readonly own: string;
	/** Without a level, on a server that mqbench did not start. */
	readonly unknown?: string;
	/** The driver sets all levels, or this one, on any server, so it is certain there too. */
	readonly byDriver?: true | Level;
}

/** Levels that `config` cannot change. */
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
			const known = ours || byDriver === true || (durability && byDriver === durability);
			const text = durability && levels[durability];
			if (text === undefined) return { text: known ? own : unknown, by: [] };
			return { text: `${text} (${durability}${known ? "" : ", declared, not checked"})`, by: [] };
		},
	};
}

/** Levels made of server settings. If `config` overrides a deciding setting, the label shows the settings instead. */
export function storesBy({
	levels,
	always = {},
	without = {},
	also = [],
	read = (config) => config,
	...words
}: Words & {
	readonly levels: Readonly<Partial<Record<Level, readonly [text: string, settings: Config]>>>;
	readonly always?: Config;
	readonly without?: Config;
	/** More keys that decide durability. */
	readonly also?: readonly string[];
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
			const certain = durability !== undefined && durability === words.byDriver;
			if (!ours || by.length === 0 || certain) return inWords.of(options, ours);
			const text = Object.entries(settings(durability ?? null, config))
				.filter(([key]) => deciding.includes(key))
				.map(([key, value]) => `${key}: ${value}`);
			return { text: text.join(", "), by };
		},
	};
}

export interface Traits {
	/** "NATS core", "JetStream", "Kafka". */
	readonly title: string;
	/** Without it there is no metric `ack`. */
	readonly acks: boolean;
	/** `deliveryAlone` applies where consumers do not share (round-trip, fan-out, replies). */
	readonly delivery: Delivery;
	readonly deliveryAlone?: Delivery;
	/** `alone`: consumers that do not share; `group`: members of a group. */
	readonly acknowledge: { readonly alone: Acknowledge; readonly group: Acknowledge };
	/** Keeps the order of one producer's messages within a partition or key. */
	readonly ordered: boolean;
	/** The same when a group shares the messages. */
	readonly groupOrdered: boolean;
	readonly keys: boolean;
	readonly partitions: boolean;
	/** Each partition goes to one member; surplus members get nothing. */
	readonly groupsByPartition: boolean;
	/** A topic keeps this many messages or bytes, whichever is more; slower consumers lose older ones. */
	readonly keepsOnly: {
		readonly messages: number;
		readonly bytes: number;
		readonly option: string;
		readonly inBytes?: true;
	} | null;
	readonly wildcards: boolean;
	/** Its topics are logs, which can be read from their beginning again. */
	readonly replays: boolean;
	/** From `config` or mqbench's set-up of the server; null means no limit. */
	readonly maxMessageBytes: number | null;
	/** The exact limit where the topic's name counts towards it. */
	readonly maxMessageBytesTo?: (topic: string) => number;
	/** Reason by pattern, as the end of a sentence ("nothing is stored"). */
	readonly cannot: Readonly<Partial<Record<Pattern, string>>>;
	/** Remedy by pattern ("write confirms: true"). */
	readonly instead: Readonly<Partial<Record<Pattern, string>>>;
	/** Why consumers cannot share a topic, although a topic with a single one is a work queue. */
	readonly cannotShare?: string;
	/** Responders may share a request topic even without work queues. */
	readonly respondersShare?: true;
	/** Settings of each level ("sync_interval: always"); empty if nothing is stored. */
	readonly levels: Readonly<Partial<Record<Level, string>>>;
	/** Durability without a level: "interval 2m (default)"; "none, nothing is stored". */
	readonly ownDurability: string;
	/** Most unacknowledged messages per group member. Null means no limit. */
	readonly prefetch: number | null;
	/** Unacknowledged messages are redelivered after this, ns; null means only after a disconnect. */
	readonly redeliverAfterNs: number | null;
	/** A killed consumer's messages go to others after this, ns; 0: when its connection ends. By default as `redeliverAfterNs`. */
	readonly killedAfterNs: number;
	readonly maxReplicas: number;
	/** Most connections of a server by its `config`, or else its default. Absent: only the machine limits them. */
	readonly maxConnections?: { readonly most: number; readonly option: string };
	/** Cluster sizes that mqbench can start. */
	readonly nodes: readonly number[];
	readonly requestUsd?: number;
	/** A JVM is slow until it has compiled its hot code. */
	readonly jvm?: true;
}

export interface OwnTraits extends Partial<Omit<Traits, "acknowledge" | "cannot" | "instead">> {
	/** One value applies to all consumers. */
	readonly acknowledge?: Acknowledge | Traits["acknowledge"];
	/** A reason, or a reason and its remedy. `broker` adds `publish` where there are no acks. */
	readonly cannot?: Readonly<Partial<Record<Pattern, string | readonly [string, string]>>>;
	readonly instead?: string;
	/** Its driver opens connections during a run (pattern connect). */
	readonly dials?: true;
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
	replays: false,
	maxMessageBytes: null,
	cannot: {},
	instead: {},
	levels: {},
	prefetch: null,
	redeliverAfterNs: null,
	killedAfterNs: 0,
	maxReplicas: 1,
	nodes: [1],
} as const satisfies Partial<Traits>;

// --- internal ---

const NO_DIAL = [
	"mqbench opens its connections before the run",
	"scenarios/systems.md lists the systems that can",
] as const;
const OWN_VERSION = "binary is an installation with a version of its own; remove version";
const NO_SERVER: Server = { process: null, image: null, program: null, install: null };

/** Shared fields with an example that fits this broker. */
function withExamples<Schema extends z.ZodObject>(
	options: Schema,
	examples: Readonly<Record<string, unknown>>,
): Schema {
	const fields = Object.entries(examples).flatMap(([key, example]) => {
		const field = options.shape[key];
		return field && example !== undefined
			? [[key, (field as z.ZodType).meta({ examples: [example] })]]
			: [];
	});
	return options.extend(Object.fromEntries(fields)) as unknown as Schema;
}

/** Broker-specific options with the driver's names: durations get the suffix Ns. */
function driverNames(schema: z.ZodObject) {
	const { properties = {} } = z.toJSONSchema(schema, { io: "input" });
	return Object.entries(properties)
		.filter(([key]) => !OF_PROCESSES.includes(key))
		.map(([key, field]) => {
			const isSpan = (field as { pattern?: string }).pattern === UNIT_PATTERNS.duration;
			return [key, isSpan ? `${key}Ns` : key] as const;
		});
}
