import { z } from "zod";
import { choice, count, flag, named } from "../model/field.ts";
import { hostPort } from "./addresses.ts";
import { broker, type OwnTraits } from "./broker.ts";
import { onlyIn, processFields } from "./fields.ts";
import { goServer, type Server } from "./server.ts";

/** A library whose sockets connect senders to receivers, directly or through a forwarder. */
interface Library {
	/** Names the broker and its forwarder: "zeromq". */
	readonly name: string;
	readonly title: string;
	readonly description: string;
	readonly alsoCalled: Readonly<Record<string, string>>;
	/** The queue limit, under the library's own name. */
	readonly queue: { readonly key: string; readonly description: string; readonly most: number };
}

export function brokerless(library: Library) {
	const { name, title, queue } = library;
	const { shape: fields } = z
		.object(processFields)
		.omit({ create: true, topics: true, durability: true, config: true, version: true });
	const options = z.strictObject({
		broker: named(name, library.description),
		mode: choice(
			["push-pull", "pub-sub", "req-rep"],
			"`push-pull`: receivers take turns; `pub-sub`: every subscriber gets a copy, and a slow one loses messages; `req-rep`: requests and replies on one connection.",
			["pub-sub"],
		).default("push-pull"),
		forwarder: flag(
			"`true`: put the library's forwarder between senders and receivers, as a process. `false`: they connect directly.",
			[true],
		).default(false),
		transport: choice(
			["tcp", "ipc"],
			"Without a forwarder. `ipc`: local sockets, on this machine only.",
		).default("tcp"),
		[queue.key]: count(queue.description, queue.most, [10_000]).optional(),
		...fields,
	});
	return broker(options, {
		title,
		alsoCalled: library.alsoCalled,
		urls: { [name]: 5555 },
		brokerless: ({ forwarder }) => !forwarder,
		server: forwarder(name, title),
		traits: ({ mode }) => ({
			...byMode[mode],
			title: `${title} ${mode.replace("-", "/").toUpperCase()}`,
		}),
		driver: ({ forwarder: _, ...own }) => own,
		check({ forwarder, transport, ...options }, place) {
			const given = { ...options, forwarder: String(forwarder) };
			return {
				...onlyIn("forwarder", ["true"], SERVERS, given),
				transport:
					forwarder && transport === "ipc" && "a forwarder is reached over tcp; remove transport",
				forwarder:
					forwarder &&
					place === "container" &&
					options.image === undefined &&
					"there is no official image of a forwarder; write target: local, or image: <yours, whose entry point is mqbench's forwarder>",
			};
		},
	});
}

// --- internal ---

const NOTHING = { backlog: "it stores nothing" } as const;
const TO_ALL = "every subscriber gets every message";
const REQUESTS = "only requests have replies";
const [PUSH, PUB, REQ] = [
	"write mode: push-pull",
	"write mode: pub-sub",
	"write mode: req-rep",
] as const;

const byMode = {
	"push-pull": { cannot: { ...NOTHING, "fan-out": ["each message goes to one receiver", PUB] } },
	"pub-sub": {
		wildcards: true,
		cannot: { ...NOTHING, "work-queue": [TO_ALL, PUSH], "request-reply": [TO_ALL, REQ] },
	},
	"req-rep": {
		respondersShare: true,
		cannot: {
			...NOTHING,
			"round-trip": [REQUESTS, PUSH],
			"fan-out": [REQUESTS, PUB],
			"work-queue": [REQUESTS, PUSH],
		},
	},
} as const satisfies Record<string, OwnTraits>;

/** Options that need a forwarder. */
const SERVERS = ["url", "port", "binary", "image", "cpus", "memory", "pin"] as const;

/** extensions/cmd/forwarder listens on its own port, and on others of the same address as needed. */
function forwarder(name: string, title: string): Server {
	const made = goServer({
		program: { name: "forwarder", module: ".", package: "./cmd/forwarder", whenNeeded: true },
		image: null,
		remark: `, which ${title} has with forwarder: true`,
		ports: 5555,
		launch: ({ nodes }) => ({
			log: { name: `${title} forwarder`, version: /^version (.+)$/, up: /^listening on / },
			url: `${name}://${nodes[0]?.client ?? ""}`,
			settings: {},
			data: null,
			node: ({ listen, ports }) => ({
				argv: ["-library", name, "-addr", hostPort(listen, ports[0] ?? 0)],
			}),
		}),
	});
	const from = `no server; clients connect directly; with \`forwarder: true\` ${title}'s forwarder, built on first use`;
	return { ...made, install: made.install && { ...made.install, from } };
}
