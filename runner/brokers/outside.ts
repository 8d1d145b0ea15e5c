import { once } from "node:events";
import { createConnection } from "node:net";
import { z } from "zod";
import { described, named, parsed, unit } from "../model/field.ts";
import { Pattern } from "../model/load.ts";
import { Level } from "../model/plan.ts";
import { Acknowledge, Delivery } from "../model/workload.ts";
import { tell } from "../text/tell.ts";
import { parseDuration } from "../units.ts";
import { type Broker, broker, type OwnTraits, storesAs, USUAL_TRAITS } from "./broker.ts";
import { OF_PROCESSES, processFields, type SystemOptionsOfAnyBroker } from "./fields.ts";
import { brokers } from "./index.ts";
import type { BrokerProcess } from "./process.ts";
import type { Server } from "./server.ts";

/** broker.Contract of extensions/xk6-mqbench/broker: the form of drivers. */
export const CONTRACT = 1;

/** A broker that is not mqbench's: the Go module with its driver, and what that module's manifest says. */
export interface Outside {
	readonly module: string;
	/** Null for a folder of this machine. */
	readonly version: string | null;
	/** "github.com/me/xk6-mybroker v1.2.3", "example.com/xk6-mybroker in ../xk6-mybroker" */
	readonly title: string;
	/** Of the module's files: Go's h1, without the module's name for a folder. */
	readonly sum: string;
	readonly folder: string;
	readonly manifest: Manifest;
	readonly broker: Broker;
}

/** Drivers from outside, and the file that pins them. */
export interface Drivers {
	/** An absolute path. */
	readonly lock: string;
	/** `before`: the sum in the lock; null if it has none. */
	readonly found: readonly (Outside & { readonly before: string | null })[];
}

/** Strangers write it: everything has a limit, and nothing in it is a regular expression. */
const line = (most: number) =>
	z
		.string()
		.min(1)
		.max(most)
		.regex(/^[^\p{C}\p{Zl}\p{Zp}]*$/u, "must be one line");

/** Texts with a unit, and what the driver gets. */
const FORMATS = { "mqbench-duration": "duration", "mqbench-size": "size" } as const;

/** The keywords of JSON Schema for one value, which zod reads. */
const Option = z.strictObject({
	type: z.enum(["boolean", "integer", "number", "string"]).optional(),
	description: line(300),
	default: z.json().optional(),
	examples: z.array(z.json()).max(10).optional(),
	enum: z.array(z.json()).max(100).optional(),
	minimum: z.number().optional(),
	maximum: z.number().optional(),
	format: z.enum(Object.keys(FORMATS) as (keyof typeof FORMATS)[]).optional(),
});

/** Traits that a broker has or has not. */
const PROMISES = Object.entries(USUAL_TRAITS)
	.filter(([, usual]) => typeof usual === "boolean")
	.map(([name]) => [name, z.boolean()] as const);

/** mqbench.json in the root of a driver's Go module. */
export const Manifest = z.strictObject({
	contract: z.literal(CONTRACT),
	broker: z.string().regex(/^[a-z][a-z0-9-]{0,30}$/, "must be a lowercase word"),
	title: line(100),
	description: line(300),
	urls: z
		.record(z.string().regex(/^[a-z][a-z0-9+.-]{0,30}$/), z.int().min(1).max(65_535))
		.refine((urls) => Object.keys(urls).length > 0, "must have a scheme with its port"),
	options: z
		.strictObject({
			type: z.literal("object").optional(),
			properties: z
				.record(z.string().regex(/^[a-z][A-Za-z0-9]{0,40}$/, "must be a camelCase word"), Option)
				.default({}),
		})
		.prefault({}),
	traits: z
		.strictObject({
			...Object.fromEntries(PROMISES),
			delivery: Delivery,
			deliveryAlone: Delivery,
			dials: z.literal(true),
			maxMessageBytes: z.int().positive(),
			prefetch: z.int().positive(),
			redeliverAfter: z.string().transform(parsed(parseDuration)),
			acknowledge: z.union([
				Acknowledge,
				z.strictObject({ alone: Acknowledge, group: Acknowledge }),
			]),
			cannot: z.partialRecord(Pattern, line(200)),
		})
		.partial()
		.default({}),
	durability: z
		.strictObject({ own: line(200), levels: z.partialRecord(Level, line(200)).default({}) })
		.prefault({ own: "not known" }),
	local: z
		.strictObject({
			command: z
				.array(line(1000))
				.min(1)
				.max(100)
				.refine(
					(words) =>
						/^(\{module\}\/)?[^/\\{}]+/.test(words[0] ?? "") &&
						!words.some((word) => /(^|[/\\])\.\.([/\\]|$)/.test(word)),
					"must begin with the name of a program or {module}/, and must not lead out of the module",
				),
			ready: z.union([z.literal("port"), z.strictObject({ log: line(200) })]).default("port"),
			/** What is before the version in its output. */
			version: line(100).optional(),
		})
		.optional(),
});
export type Manifest = z.infer<typeof Manifest>;

/** The definition that a manifest stands for. Throws a sentence about what is wrong in the manifest. */
export function brokerFrom(manifest: Manifest): Broker {
	const { title, urls, durability, traits, local } = manifest;
	const { levels } = durability;
	const { redeliverAfter, ...promises } = traits;
	const own = {
		...promises,
		...(redeliverAfter !== undefined && { redeliverAfterNs: redeliverAfter }),
	} as OwnTraits;
	if (manifest.broker in brokers)
		throw new Error(
			`mqbench.json broker: mqbench has a ${manifest.broker} of its own; give it another name`,
		);
	const { url, port, binary, metrics, create, topics, pin, durability: level } = processFields;
	const options = z.strictObject({
		broker: named(manifest.broker, manifest.description),
		...{ url, port, binary, metrics, create, topics, pin },
		...(Object.keys(levels).length > 0 && { durability: level }),
		command: described(
			z.array(z.string().min(1)).min(1).optional(),
			`Program of the broker and its arguments (\`target: local\`): {port} and {dir} (an empty folder) are filled in. ${local ? `Default: ${local.command.join(" ")}.` : ""}`.trim(),
			[["./server", "--port", "{port}"]],
		),
		...Object.fromEntries(
			Object.entries(manifest.options.properties).map(([name, option]) => {
				if (RESERVED.has(name) || name in {})
					throw new Error(
						`mqbench.json options.properties.${name}: mqbench has that option itself`,
					);
				return [name, fieldOf(option)];
			}),
		),
	});
	const wrong = options.safeParse({ broker: manifest.broker }).error?.issues[0];
	if (wrong)
		throw new Error(
			`mqbench.json options.properties.${wrong.path.join(".")}: its default is refused: ${wrong.message}`,
		);
	return broker(options, {
		title,
		urls,
		traits: () => own,
		stores: () =>
			storesAs({
				own: durability.own,
				levels,
				...(Object.keys(levels).length > 0 && { byDriver: true }),
			}),
		server: commandServer(manifest),
		check: ({ command, port }, place) => ({
			broker: place !== null && place !== "process" && tell("outside-target"),
			command:
				place === "process" &&
				((command === undefined && !local && tell("command-missing")) ||
					(command !== undefined &&
						port === undefined &&
						!command.some((word) => word.includes("{port}")) &&
						tell("command-port", { port: "{port}" }))),
		}),
	}) as unknown as Broker;
}

/** The command of a system on this machine, before its placeholders are filled in. */
export function commandOf(
	manifest: Manifest,
	options: SystemOptionsOfAnyBroker,
): readonly string[] {
	return options.command ?? manifest.local?.command ?? [];
}

/** Of the copy of its module that was built, {module} in its command. */
export function moduleName({ broker }: Manifest): string {
	return `module-${broker}`;
}

// --- internal ---

const RESERVED = new Set([
	...OF_PROCESSES,
	...["tls", "acknowledge", "secrets", "server", "forwarder", "limitBytes"],
]);

function fieldOf({ format, default: usual, ...schema }: z.infer<typeof Option>): z.ZodType {
	const { description } = schema;
	const examples = schema.examples ?? (usual === undefined ? [] : [usual]);
	const kind = format && FORMATS[format];
	const field: z.ZodType = kind
		? unit(kind, { description, examples: examples.map(String) })
		: described(z.fromJSONSchema(schema as never), description, examples);
	return usual === undefined ? field.optional() : field.prefault(usual);
}

/** A program of the user's: no shell, and no environment but that of all brokers. */
function commandServer(manifest: Manifest): Server {
	const [[scheme, number] = ["", 0]] = Object.entries(manifest.urls);
	const { ready = "port", version } = manifest.local ?? {};
	const process: BrokerProcess = {
		packages: [],
		ports: () => [{ number, from: "clients" }],
		container: { data: "/data" },
		onHosts: { text: () => "" },
		async describe({ system, nodes: [site], tools }) {
			let says = "";
			const command = commandOf(manifest, system.options);
			const isOwn = command.some((word) => word.includes("{module}"));
			const module = isOwn ? await tools.built(moduleName(manifest)) : "";
			const [port = 0] = site?.ports ?? [];
			const [program = "", ...args] = command.map((word) =>
				word
					.replaceAll("{module}", () => module)
					.replaceAll("{port}", () => `${port}`)
					.replaceAll("{dir}", () => site?.folder ?? ""),
			);
			const found = tools.findProgram(
				system.binary === null ? { ...system, binary: program, option: "command" } : system,
			);
			return {
				url: () => `${scheme}://${site?.client}`,
				version: () => says,
				settings: { command: command.join(" ") },
				data: "disk",
				flushes: false,
				startMs: 30_000,
				stopMs: 5_000,
				ready(line) {
					const [, after] = version === undefined ? [] : line.split(version);
					if (after !== undefined) says ||= `${version?.trim()} ${after.trim().split(/\s/)[0]}`;
					return ready !== "port" && line.includes(ready.log);
				},
				...(ready === "port" && { answers: () => listens(port) }),
				nodes: [{ argv: [found, ...args], files: {} }],
			};
		},
	};
	return { image: null, program: null, install: null, process };
}

async function listens(port: number): Promise<boolean> {
	const socket = createConnection({ host: "127.0.0.1", port });
	return once(socket, "connect", { signal: AbortSignal.timeout(1000) })
		.then(
			() => true,
			() => false,
		)
		.finally(() => socket.destroy());
}
