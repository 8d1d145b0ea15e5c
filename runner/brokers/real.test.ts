import { existsSync, readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { findOnPath } from "../../infra/local/program.ts";
import { runs } from "../../infra/processes.fake.ts";
import { started } from "./started.fake.ts";

type Some = Readonly<Record<string, unknown>>;

/** A system of a scenario, further input, and the settings that a real server has to report. */
const SERVERS: readonly (readonly [Some & { readonly broker: string }, Some, Some])[] = parse(`
- [{ broker: nats }, {}, {}]
- [{ broker: nats }, { messageBytes: 3145728 }, { max_payload: "3145728" }]
- [{ broker: nats, mode: jetstream }, {}, { jetstream.sync_interval: 2m (default) }]
- [{ broker: nats, mode: jetstream, durability: memory }, {}, {}]
- [{ broker: nats, mode: jetstream, durability: os }, {}, { jetstream.sync_interval: 24h }]
- [{ broker: nats, mode: jetstream, config: { max_payload: 2MB, jetstream.sync_interval: 1m } }, {}, { max_payload: 2MB, jetstream.sync_interval: 1m }]
- [{ broker: nats-streaming }, {}, { streaming.store: memory, streaming.store_limits.max_bytes: "1073741824" }]
- [{ broker: nats-streaming }, { messageBytes: 3145728 }, { max_payload: "3146752" }]
- [{ broker: nats-streaming, durability: fsync }, {}, { streaming.store: file, streaming.file_options.sync_on_flush: "true", streaming.store_limits.max_bytes: "0" }]
- [{ broker: nats-streaming, durability: os, config: { streaming.file_options.buffer_size: 4MB } }, {}, { streaming.file_options.auto_sync: 0s, streaming.file_options.buffer_size: 4MB }]
- [{ broker: nsq }, {}, {}]
- [{ broker: nsq, durability: memory }, {}, { mem-queue-size: "10000" }]
- [{ broker: nsq, durability: os, nodes: 2 }, {}, { mem-queue-size: "0", sync-timeout: 24h }]
- [{ broker: nsq, durability: interval }, {}, { mem-queue-size: "0", sync-every: "2500", sync-timeout: 1s }]
- [{ broker: nsq, prefetch: 3000, msgTimeout: 20min }, { messageBytes: 3145728 }, { max-msg-size: "3145728", max-body-size: "15728640", max-rdy-count: "3000", max-msg-timeout: 1200000ms }]
- [{ broker: mqtt, receiveMaximum: 100, maxQueued: 5, config: { max_keepalive: 600 } }, {}, { set_tcp_nodelay: "true", max_inflight_messages: "100", max_queued_messages: "5", max_keepalive: "600" }]
- [{ broker: mqtt, server: mochi }, {}, { receive-maximum: "20" }]
- [{ broker: zeromq, forwarder: true }, {}, {}]
- [{ broker: nanomsg, forwarder: true }, {}, {}]
- [{ broker: redis, mode: streams, durability: fsync }, {}, { appendonly: "yes", appendfsync: always }]
- [{ broker: kafka, durability: memory }, {}, { log.dirs: /dev/shm (in memory) }]
`);

/** As they print it. */
const VERSIONS: Readonly<Record<string, RegExp>> = {
	nats: /^nats-server 2\.\d+\.\d+$/,
	"nats-streaming": /^nats-streaming-server 0\.25\.6$/,
	nsq: /^nsqd 1\.3\.0$/,
	mqtt: /^(mosquitto \d|mochi 2\.7\.9$)/,
	zeromq: /^ZeroMQ forwarder go-zeromq\/zmq4 v\d\S+ \(pure Go, not libzmq\)$/,
	nanomsg: /^nanomsg forwarder mangos v\d\S+ \(pure Go, not nng\)$/,
	redis: /^redis-server \d/,
	kafka: /^Kafka 4\.2\.2$/,
};

/** A server without its program is skipped, but never in CI. */
const NEEDS: Readonly<Record<string, readonly string[]>> = {
	redis: ["redis-server"],
	kafka: ["java", "mvn"],
};
const there = (broker: string) =>
	process.env.CI === "true" ||
	(NEEDS[broker] ?? []).every((program) => findOnPath(program, process.env) !== null);
const inMemory = () =>
	existsSync("/dev/shm")
		? readdirSync("/dev/shm").filter((name) => name.startsWith(`mqbench-${process.pid}-`))
		: [];

test.each(SERVERS.filter(([{ broker }]) => there(broker)))(
	"%j %j comes up on loopback, says what it is, and is gone",
	{ timeout: 180_000 },
	async ({ broker: name, ...written }, asked, settings) => {
		const broker = await started(name, written, asked);
		expect(broker.version).toMatch(VERSIONS[name] ?? /^$/);
		const addresses = [...broker.url.matchAll(/\b127\.0\.0\.1:\d+/g)].map(([address]) => address);
		expect(addresses.length).toBeGreaterThan(0);
		expect(new Set(addresses).size).toBe(addresses.length);
		expect(broker.settings).toMatchObject(settings);
		if (Object.keys(settings).length === 0) expect(broker.settings).toEqual({});
		expect(broker.pids.every(runs)).toBe(true);
		if (name === "kafka") expect(inMemory()).toHaveLength(1);
		await broker.close();
		expect(broker.pids.some(runs)).toBe(false);
		expect(inMemory()).toEqual([]);
	},
);

test.each([
	["nats", { no_such_thing: 1 }, "no_such_thing"],
	["redis", { "no-such-setting": 1 }, "Bad directive"],
])(
	"%s that does not know the setting %j does not start, and says why",
	async (broker, config, why) => {
		const message = expect.stringContaining(why);
		await expect(started(broker, { config })).rejects.toMatchObject({
			code: "broker-start",
			message,
		});
	},
);
