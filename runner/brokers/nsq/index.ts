import type { Level } from "../../model/plan.ts";
import { broker, brought, durabilityBy, traits } from "../broker.ts";
import { driverTls } from "../fields.ts";
import { NsqOptions } from "./options.ts";
import {
	EVERY,
	IN_MEMORY,
	image,
	keepsFiles,
	LEVELS,
	NEVER,
	nsqSettings,
	OWN_SETTINGS,
	process,
	TIMEOUT,
} from "./process.ts";

/** As the driver sets them (xk6-nsq/options.go). */
const PREFETCH = 100;
const MSG_TIMEOUT_NS = 60e9;

/** As mqbench sets nsqd up. */
const MAX_MESSAGE_BYTES = 8 * 1024 ** 2;

const OWN = `memory (${textOf({})}, its default)`;

const { levels, durability } = durabilityBy({
	own: OWN,
	levels: LEVELS,
	decides: (key) => key in OWN_SETTINGS,
	settings: nsqSettings,
	levelOf,
	textOf,
});

const PROGRAM = {
	name: "nsqd",
	module: "servers/nsqd",
	package: "github.com/nsqio/nsq/apps/nsqd",
	whenNeeded: true,
} as const;

export const nsq = broker(NsqOptions, {
	title: "NSQ",
	alsoCalled: { nsqd: "{ broker: nsq }" },
	urlSchemes: ["nsq"],
	defaultPort: 4150,
	traits: (options) =>
		traits({
			title: "NSQ",
			acks: true,
			delivery: "at-least-once",
			// A channel waits for it, whoever reads it.
			acknowledge: { alone: "message", group: "message" },
			ordered: false,
			maxMessageBytes: Number(options.config?.["max-msg-size"]) || MAX_MESSAGE_BYTES,
			levels,
			ownDurability: `the server's own; one that mqbench starts: ${OWN}`,
			prefetch: options.prefetch ?? PREFETCH,
			redeliverAfterNs: options.msgTimeout ?? MSG_TIMEOUT_NS,
			nodes: [1, 2, 3],
		}),
	driverOptions: ({ prefetch, msgTimeout, outputBuffer, tls }) => ({
		prefetch,
		msgTimeoutNs: msgTimeout,
		outputBuffer,
		tls: driverTls(tls),
	}),
	durability,
	// Where it listens and keeps its files, who comes, and what mqbench reads or sets by other options.
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
	oneVersion: { program: "nsqd" },
	check({ msgTimeout }, _, wrong) {
		if (msgTimeout !== undefined && msgTimeout % 1e6 !== 0)
			wrong("msgTimeout", "nsqd counts whole milliseconds; write 1ms or more of them");
	},
	process,
	image,
	program: PROGRAM,
	install: brought(PROGRAM),
	// Its driver sends to one nsqd, and consumers find it by an nsqlookupd.
	omb: {
		packages: ["nsq"],
		system: { broker: "nsq" },
		login: false,
		keys: { nsqdHost: (servers) => ({ at: { servers } }) },
	},
});

// --- internal ---

type Settings = ReturnType<typeof nsqSettings>;

/** As often as never: by number and by the clock. */
function levelOf(settings: Settings): Level {
	if (!keepsFiles(settings)) return "memory";
	const { [EVERY]: every, [TIMEOUT]: timeout } = { ...OWN_SETTINGS, ...settings };
	const never = Number(every) >= Number(NEVER[EVERY]) && timeout === NEVER[TIMEOUT];
	return never ? "os" : "interval";
}

function textOf(settings: Settings): string {
	const all = { ...OWN_SETTINGS, ...settings };
	if (!keepsFiles(settings)) return `${IN_MEMORY}: ${all[IN_MEMORY]}, what is more goes to files`;
	return levelOf(settings) === "os"
		? `${IN_MEMORY}: 0, never synced`
		: `${IN_MEMORY}: 0, ${EVERY}: ${all[EVERY]}, ${TIMEOUT}: ${all[TIMEOUT]}`;
}
