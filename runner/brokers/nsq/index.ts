import { z } from "zod";
import defaults from "../../../extensions/xk6-nsq/defaults.json" with { type: "json" };
import { choice, count, named, span } from "../../model/field.ts";
import { formatDurationExact } from "../../units.ts";
import { hostPort } from "../addresses.ts";
import { broker, storesBy } from "../broker.ts";
import { processFields, tlsField } from "../fields.ts";
import { goServer } from "../server.ts";

const NsqOptions = z.strictObject({
	broker: named(
		"nsq",
		"NSQ: a topic copies each message to its channels, whose consumers share them. Messages at a consumer are only in nsqd's memory.",
	),
	...processFields,
	...tlsField,
	nodes: count(
		"Independent nsqd processes, 1 to 3. Each producer sends to one of them, consumers read from all. Default: 1.",
		3,
		[2],
	).optional(),
	prefetch: count(
		`Most unfinished messages of a consumer, over all nsqds (its RDY count); 1 spreads slow work best. Default: ${defaults.prefetch}.`,
		1_000_000,
		[1],
	).optional(),
	msgTimeout: span(
		`A message that is not finished within this time, including its wait in the prefetch, is requeued. Default: ${formatDurationExact(defaults.msgTimeoutNs)}, nsqd's.`,
		["30s", "5min"],
	).optional(),
	outputBuffer: choice(
		["none", "default"],
		"`none`: nsqd sends each message immediately; `default`: it buffers 16 KiB or 250 ms for a consumer with a full prefetch, as for other clients.",
	).default("none"),
});
type NsqOptions = z.infer<typeof NsqOptions>;
const MAX_MESSAGE_BYTES = 8 * 1024 ** 2;
/** nsqd's defaults, raised only where a run needs more, to measure the server as it comes. */
const MAX_MESSAGE = 1024 ** 2;
const MAX_RDY = 2500;
const MAX_TIMEOUT_NS = 15 * 60e9;
const IN_MEMORY = "mem-queue-size";
const EVERY = "sync-every";
const TIMEOUT = "sync-timeout";
const IN_FILES = { [IN_MEMORY]: 0 };

/** There is no `fsync`: nsqd acknowledges a written message and flushes later. */
const stores = storesBy({
	own: `memory (${IN_MEMORY}: 10000, the rest goes to files, its default)`,
	levels: {
		memory: [`${IN_MEMORY}: 10000, the rest goes to files`, { [IN_MEMORY]: 10_000 }],
		// More than any run sends.
		os: [
			`${IN_MEMORY}: 0, never synced`,
			{ ...IN_FILES, [EVERY]: 1_000_000_000_000, [TIMEOUT]: "24h" },
		],
		interval: [
			`${IN_MEMORY}: 0, ${EVERY}: 2500, ${TIMEOUT}: 1s`,
			{ ...IN_FILES, [EVERY]: 2500, [TIMEOUT]: "1s" },
		],
	},
});

/** Clients use both ports, one of them to make topics; nsqd listens on both before it logs either. */
const server = goServer<NsqOptions>({
	program: { name: "nsqd", package: "github.com/nsqio/nsq/apps/nsqd", whenNeeded: true },
	// As in extensions/servers/nsqd/go.mod.
	image: { name: "nsqio/nsq", version: "v1.3.0" },
	bare: ["/nsqd"],
	ports: () => [
		{ number: 4150, from: "clients" },
		{ number: 4151, from: "clients" },
	],
	launch({ level, messageBytes, nodes, image }, { prefetch = 0, msgTimeout = 0, config }) {
		const large = messageBytes > MAX_MESSAGE;
		const stored = stores.settings(level, config);
		const settings = {
			...(large && { "max-msg-size": messageBytes, "max-body-size": 5 * messageBytes }),
			...(prefetch > MAX_RDY && { "max-rdy-count": prefetch }),
			...(msgTimeout > MAX_TIMEOUT_NS && { "max-msg-timeout": `${msgTimeout / 1e6}ms` }),
			...stored,
		};
		const at = (port: number) => nodes.map(({ clients }) => clients[port]).join(",");
		return {
			log: { name: "nsqd", version: /INFO: nsqd v(\S+) \(built/, up: /INFO: HTTP: listening on / },
			url: `nsq://${at(0)}?http=${at(1)}`,
			settings,
			flushes: String(stored[IN_MEMORY]) === "0",
			node: ({ listen, ports: [tcp = 0, http = 0], data, folder }) => ({
				argv: Object.entries({
					"tcp-address": hostPort(listen, tcp),
					"http-address": hostPort(listen, http),
					"data-path": image ? data : folder,
					...settings,
				}).map(([name, value]) => `--${name}=${value}`),
			}),
		};
	},
});

export const nsq = broker(NsqOptions, {
	title: "NSQ",
	alsoCalled: { nsqd: "{ broker: nsq }" },
	urls: { nsq: 4150 },
	server,
	traits: ({ config, prefetch = defaults.prefetch, msgTimeout = defaults.msgTimeoutNs }) => ({
		acks: true,
		delivery: "at-least-once",
		// Every channel waits for it.
		acknowledge: "message",
		ordered: false,
		maxMessageBytes: Number(config?.["max-msg-size"]) || MAX_MESSAGE_BYTES,
		prefetch,
		redeliverAfterNs: msgTimeout,
		nodes: [1, 2, 3],
	}),
	stores: () => stores,
	configExample: { "mem-queue-size": 20_000 },
	config: {
		file: "nsqd",
		options: {
			"tcp-address": "port",
			"max-rdy-count": "prefetch",
			"max-msg-timeout": "msgTimeout",
		},
		reserved: `config version http-address https-address data-path broadcast-address broadcast-tcp-port broadcast-http-port
			lookupd-tcp-address auth-http-address statsd-address log-level log-prefix verbose worker-id
			tls-required tls-cert tls-key tls-root-ca-file tls-client-auth-policy tls-min-version`,
	},
	check: ({ msgTimeout = 0 }) => ({
		msgTimeout:
			msgTimeout % 1e6 !== 0 && "nsqd counts whole milliseconds; write 1ms or more of them",
	}),
	// The benchmark's driver sends to one nsqd, and consumers find it by an nsqlookupd.
	omb: {
		packages: ["nsq"],
		system: { broker: "nsq" },
		login: false,
		keys: { nsqdHost: (servers) => ({ at: { servers } }) },
	},
});
