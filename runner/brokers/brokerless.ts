import { z } from "zod";
import { count } from "../model/field.ts";
import type { BrokerPlace } from "../model/targets.ts";
import { hostPort } from "./addresses.ts";
import { type Broker, type BrokerOptions, type Traits, traits } from "./broker.ts";
import { defined, processFields } from "./fields.ts";
import { type BrokerProcess, builtServer, everywhere } from "./process.ts";

/** A library whose sockets connect senders and receivers to each other. Where a broker would be there may be a forwarder. */
interface Library {
	/** Key of the broker, which also names its forwarder: "zeromq". */
	readonly name: string;
	/** For people: "ZeroMQ". */
	readonly title: string;
	readonly description: string;
	readonly alsoCalled: Readonly<Record<string, string>>;
	/** The option that limits what a socket holds, as the library calls it; null: the library has none. */
	readonly queue: {
		readonly key: string;
		readonly description: string;
		readonly most: number;
	} | null;
	/** What its sockets for requests are called. */
	readonly requests: string;
}

/** The room of such a library. */
export function brokerless(library: Library): Broker<BrokerlessOptions> {
	const { name, title } = library;
	return {
		...optionsOf(library),
		title,
		process: forwarder(name, title),
		image: null,
		program: { name: PROGRAM, module: ".", package: "./cmd/forwarder", whenNeeded: true },
		install: {
			from: `nothing: clients are connected to each other; with \`forwarder: true\` a forwarder of ${title}, built by mqbench when it is first needed`,
			look: async () => ({
				here: true,
				figure: "in the load generator",
				sentence: `${title} needs no server; its forwarder is built when it is first needed.`,
			}),
		},
		omb: null,
	};
}

// --- internal ---

/** extensions/cmd/forwarder. */
const PROGRAM = "forwarder";
const SERVER = builtServer(PROGRAM, everywhere("build extensions/cmd/forwarder with Go"));

const MODES = ["push-pull", "pub-sub", "req-rep"] as const;
type Mode = (typeof MODES)[number];

interface BrokerlessOptions {
	readonly broker: string;
	readonly mode: Mode;
	readonly forwarder: boolean;
	readonly transport: "tcp" | "ipc";
	readonly [key: string]: unknown;
}

const NOTHING = "none, nothing is stored";

function optionsOf(library: Library): BrokerOptions<BrokerlessOptions> {
	const { name, title, queue } = library;
	const { create: _, topics: __, durability: ___, config: ____, ...fields } = processFields;
	return {
		options: z.strictObject({
			broker: z.literal(name).meta({ description: library.description }),
			mode: z
				.enum(MODES)
				.default("push-pull")
				.meta({
					description: `\`push-pull\`: a message goes to one receiver, in turn. \`pub-sub\`: to all subscribers; one that is too slow loses messages. \`req-rep\`: requests and replies on one connection (${library.requests}). Default: push-pull.`,
					examples: ["pub-sub"],
				}),
			forwarder: z
				.boolean()
				.default(false)
				.meta({
					description: `Where a broker would be: \`true\` puts a process with ${title}'s own forwarder between senders and receivers. Default: false, they are connected to each other.`,
					examples: [true],
				}),
			transport: z.enum(["tcp", "ipc"]).default("tcp").meta({
				description:
					"Without a forwarder: `tcp`, or `ipc`, sockets of this machine alone. Default: tcp.",
			}),
			...(queue === null
				? {}
				: { [queue.key]: count(queue.description, queue.most, [10_000]).optional() }),
			...fields,
		}),
		alsoCalled: library.alsoCalled,
		urlSchemes: [name],
		defaultPort: 5555,
		urlEnv: "MQBENCH_URL",
		secretEnv: [],
		brokerless: ({ forwarder }) => !forwarder,
		traits: ({ mode }) =>
			traits({
				...byMode[mode],
				title: `${title} ${TITLES[mode]}`,
				acks: false,
				delivery: "at-most-once",
				acknowledge: { alone: "automatic", group: "automatic" },
				ownDurability: NOTHING,
			}),
		durability: () => ({ level: null, text: NOTHING, by: [] }),
		driverOptions: ({ mode, transport, ...more }) =>
			defined({
				mode,
				transport,
				...(queue === null ? {} : { [queue.key]: more[queue.key] as number | undefined }),
			}),
		contradictions: (options, place) => contradictions(options, place),
		topicOptions: [],
	};
}

const TITLES: Readonly<Record<Mode, string>> = {
	"push-pull": "PUSH/PULL",
	"pub-sub": "PUB/SUB",
	"req-rep": "REQ/REP",
};

const NO_ACKS = { publish: "it acknowledges nothing", backlog: "it stores nothing" };

const byMode = {
	"push-pull": {
		wildcards: false,
		cannot: { ...NO_ACKS, "fan-out": "each message goes to one receiver" },
		instead: { "fan-out": "write mode: pub-sub" },
	},
	"pub-sub": {
		wildcards: true,
		cannot: {
			...NO_ACKS,
			"work-queue": "every subscriber gets every message",
			"request-reply": "every subscriber gets every message",
		},
		instead: { "work-queue": "write mode: push-pull", "request-reply": "write mode: req-rep" },
	},
	"req-rep": {
		wildcards: false,
		respondersShare: true,
		cannot: {
			...NO_ACKS,
			"round-trip": "only requests have replies",
			"fan-out": "only requests have replies",
			"work-queue": "only requests have replies",
		},
		instead: {
			"round-trip": "write mode: push-pull",
			"fan-out": "write mode: pub-sub",
			"work-queue": "write mode: push-pull",
		},
	},
} as const satisfies Record<Mode, Partial<Traits>>;

/** What only a server has. */
const SERVERS = ["url", "port", "binary", "image", "cpus", "memory", "pin"];

function contradictions(
	options: BrokerlessOptions,
	place: BrokerPlace | null,
): { key: string; message: string }[] {
	const { forwarder, transport, version } = options;
	if (!forwarder)
		return [...SERVERS, "version"]
			.filter((key) => options[key] !== undefined)
			.map((key) => ({
				key,
				message: `without a forwarder there is no server to which ${key} applies; write forwarder: true beside it, or remove it`,
			}));
	const problems: { key: string; message: string }[] = [];
	if (transport === "ipc")
		problems.push({
			key: "transport",
			message: "a forwarder is reached over tcp; remove transport",
		});
	if (version !== undefined)
		problems.push({ key: "version", message: `mqbench brings one forwarder; remove version` });
	if (place === "container" && options.image === undefined)
		problems.push({
			key: "forwarder",
			message: `there is no official image of a forwarder; write target: local, or image: <yours, whose entry point is mqbench's forwarder>`,
		});
	return problems;
}

/** The program that mqbench builds: it listens on one port of its own, and on others, as needed, of the same address. */
function forwarder(name: string, title: string): BrokerProcess {
	return {
		packages: [],
		onHosts: { text: () => `mqbench's ${PROGRAM}, copied` },
		container: { data: "/data" },
		ports: () => [{ number: 5555, from: "clients" }],
		prepare: SERVER.prepare,
		async describe(setup) {
			const { nodes } = setup;
			let version = "";
			return {
				nodes: await Promise.all(
					nodes.map(async (node) => ({
						argv: [
							...(await SERVER.command(setup, node)),
							"-library",
							name,
							"-addr",
							hostPort(node.listen, node.ports[0] ?? 0),
						],
						files: {},
					})),
				),
				data: null,
				flushes: false,
				settings: {},
				ready(line) {
					version ||= /^version (.+)$/.exec(line)?.[1] ?? "";
					return line.startsWith("listening on ");
				},
				url: () => `${name}://${nodes[0]?.client ?? ""}`,
				version: () => version && `${title} forwarder ${version}`,
				startMs: 15_000,
				stopMs: 2_000,
			};
		},
	};
}
