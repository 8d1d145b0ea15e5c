/** Kafka in k6 scripts: https://github.com/mqbench/mqbench/tree/main/extensions/xk6-kafka */
declare module "k6/x/kafka" {
	/** What keys, values and headers can be: text is sent as UTF-8. */
	export type Bytes = string | ArrayBuffer | Uint8Array | number[];
	/** Nanoseconds, as 5 * SECOND makes them, or a text like "5s". */
	export type Duration = number | string;

	export interface Access {
		brokers?: string[];
		/** One broker, as Connection has it. */
		address?: string;
		sasl?: { algorithm: string; username?: string; password?: string };
		tls?: {
			enableTls: boolean;
			insecureSkipTlsVerify?: boolean;
			minVersion?: string;
			/** Files in PEM, or what is in them. */
			clientCertPem?: string;
			clientKeyPem?: string;
			serverCaPem?: string;
		};
	}

	export interface OutgoingMessage {
		/** Without one the writer's. */
		topic?: string;
		/** Without one the balancer chooses. */
		partition?: number;
		key?: Bytes | null;
		value?: Bytes | null;
		headers?: Record<string, Bytes>;
		time?: Date;
	}

	export interface Message {
		topic: string;
		partition: number;
		offset: number;
		/** The end of the partition, when the message was fetched. */
		highWaterMark: number;
		key: Uint8Array | null;
		value: Uint8Array | null;
		headers: Record<string, Uint8Array>;
		/** RFC 3339, for new Date(). */
		time: string;
	}

	export interface WriterConfiguration extends Access {
		topic?: string;
		autoCreateTopic?: boolean;
		/** A BALANCER_ constant, default round robin, or a function of the key and the number of partitions. */
		balancer?: string | ((key: Uint8Array, partitionCount: number) => number);
		/** Default 10. */
		maxAttempts?: number;
		/** Of the largest batch; default 1 MiB. */
		batchBytes?: number;
		/** For a call; default 10 s. */
		writeTimeout?: Duration;
		/** -1: all (the default), 0: none, 1: the leader's. */
		requiredAcks?: -1 | 0 | 1;
		compression?: string;
	}

	/** VUs of a process whose configuration is the same share a client: what they produce is batched together. */
	export class Writer {
		/** Connects when the test begins, if its topic exists, or when createTopic makes the topic; else when it first produces. */
		constructor(configuration: WriterConfiguration);
		/** Waits until all are acknowledged. */
		produce(batch: { messages: OutgoingMessage[] }): void;
		produceAsync(batch: { messages: OutgoingMessage[] }): Promise<void>;
		flush(): void;
		flushAsync(): Promise<void>;
		close(): void;
		closeAsync(): Promise<void>;
	}
	export class Producer extends Writer {}

	export interface ReaderConfiguration extends Access {
		/** A member of this group; without one a reader has one partition. */
		groupID?: string;
		groupId?: string;
		groupTopics?: string[];
		topic?: string;
		/** Default 0. */
		partition?: number;
		/** Where to begin without a group; default the first. */
		offset?: number;
		/** Where to begin without a committed offset: a START_OFFSETS_ constant, FIRST_OFFSET or LAST_OFFSET; default the first. */
		startOffset?: string | number;
		minBytes?: number;
		maxBytes?: number;
		/** For each message of a call, from the one before; default 10 s. */
		maxWait?: Duration;
		/** For a whole call, however many messages come; without it, a call ends by its limit or by maxWait. */
		maxDuration?: Duration;
		heartbeatInterval?: Duration;
		/** Default: with each call. */
		commitInterval?: Duration;
		sessionTimeout?: Duration;
		rebalanceTimeout?: Duration;
		isolationLevel?: string;
	}

	export interface ConsumeOptions {
		/** Default 1. */
		limit?: number;
		maxMessages?: number;
		/** For this call, instead of the reader's. */
		maxDuration?: Duration;
		/** Return what has come after maxWait or maxDuration, instead of throwing. */
		expectTimeout?: boolean;
		nanoPrecision?: boolean;
	}

	export class Reader {
		/** Connects when it first consumes. */
		constructor(configuration: ReaderConfiguration);
		/** Waits for that many messages. Those of a call that throws are the next one's. */
		consume(options?: ConsumeOptions): Message[];
		consumeAsync(options?: ConsumeOptions): Promise<Message[]>;
		commitOffsets(): void;
		commitOffsetsAsync(): Promise<void>;
		close(): void;
		closeAsync(): Promise<void>;
	}
	export class Consumer extends Reader {}

	export interface TopicConfiguration {
		topic: string;
		/** Default 1. */
		numPartitions?: number;
		/** Default 1. */
		replicationFactor?: number;
		configEntries?: { configName: string; configValue: string }[];
	}

	export interface TopicMetadata {
		topic: string;
		partitions: { partition: number; leader: number; replicas: number[]; isr: number[] }[];
	}

	interface Administration {
		/** Makes it, unless there is one of that name, and waits until it has leaders. At the top of a script: once in the test, before any VU runs. */
		createTopic(topic: TopicConfiguration): void;
		createTopicAsync(topic: TopicConfiguration): Promise<void>;
		deleteTopic(topic: string): void;
		deleteTopicAsync(topic: string): Promise<void>;
		getMetadata(topic: string): TopicMetadata;
		getMetadataAsync(topic: string): Promise<TopicMetadata>;
		close(): void;
	}
	export class Connection {
		constructor(configuration: Access);
		listTopics(): string[];
		listTopicsAsync(): Promise<string[]>;
	}
	export interface Connection extends Administration {}
	export class AdminClient {
		constructor(configuration: Access);
		listTopics(): TopicMetadata[];
		listTopicsAsync(): Promise<TopicMetadata[]>;
	}
	export interface AdminClient extends Administration {}

	export interface Schema {
		id?: number;
		version?: number;
		subject?: string;
		schema?: string;
		schemaType?: string;
		references?: { name: string; subject: string; version: number }[];
	}

	export interface Container {
		data: unknown;
		schema?: Schema;
		/** A SCHEMA_TYPE_ constant. */
		schemaType?: string;
	}

	export class SchemaRegistry {
		/** Without a URL it only serializes. */
		constructor(configuration?: { url?: string; basicAuth?: { username: string; password: string }; tls?: Access["tls"] });
		createSchema(schema: Schema): Schema;
		createSchemaAsync(schema: Schema): Promise<Schema>;
		/** Without a version the latest. */
		getSchema(of: { subject: string; version?: number }): Schema;
		getSchemaAsync(of: { subject: string; version?: number }): Promise<Schema>;
		getSubjectName(of: { schema?: string | Schema; topic: string; element: string; subjectNameStrategy?: string }): string;
		/** Bytes of the data; where the schema has an id, behind a zero and that. */
		serialize(container: Container): Uint8Array;
		serializeAsync(container: Container): Promise<Uint8Array>;
		// biome-ignore lint/suspicious/noExplicitAny: what comes back is what the schema says
		deserialize(container: Container): any;
		// biome-ignore lint/suspicious/noExplicitAny: what comes back is what the schema says
		deserializeAsync(container: Container): Promise<any>;
	}

	export const NONE: string, SASL_PLAIN: string, SASL_SCRAM_SHA256: string, SASL_SCRAM_SHA512: string, SASL_SSL: string;
	export const TLS_1_0: string, TLS_1_1: string, TLS_1_2: string, TLS_1_3: string;
	export const CODEC_GZIP: string, CODEC_SNAPPY: string, CODEC_LZ4: string, CODEC_ZSTD: string;
	export const KEY: string, VALUE: string;
	export const TOPIC_NAME_STRATEGY: string, RECORD_NAME_STRATEGY: string, TOPIC_RECORD_NAME_STRATEGY: string;
	export const ISOLATION_LEVEL_READ_UNCOMMITTED: string, ISOLATION_LEVEL_READ_COMMITTED: string;
	export const START_OFFSETS_FIRST_OFFSET: string, START_OFFSETS_LAST_OFFSET: string, FIRST_OFFSET: number, LAST_OFFSET: number;
	export const BALANCER_ROUND_ROBIN: string, BALANCER_LEAST_BYTES: string, BALANCER_HASH: string, BALANCER_CRC32: string, BALANCER_MURMUR2: string;
	export const GROUP_BALANCER_RANGE: string, GROUP_BALANCER_ROUND_ROBIN: string, GROUP_BALANCER_RACK_AFFINITY: string;
	export const SCHEMA_TYPE_STRING: string, SCHEMA_TYPE_BYTES: string, SCHEMA_TYPE_AVRO: string, SCHEMA_TYPE_JSON: string;
	export const NANOSECOND: number, MICROSECOND: number, MILLISECOND: number, SECOND: number, MINUTE: number, HOUR: number;
}
