import { isIP } from "node:net";
import { z } from "zod";
import { brokerOf, example, realBrokers } from "../brokers/index.ts";
import { described, flag, listOf, word } from "../model/field.ts";
import { Level } from "../model/plan.ts";
import { RIG_TARGETS } from "../model/targets.ts";
import { tell } from "../text/tell.ts";

const Word = z.string().min(1);

function orNull<Schema extends z.ZodType>(
	schema: Schema,
	description: string,
	examples: readonly string[] = [],
) {
	return described(z.nullable(schema).default(null as never), description, examples);
}

const sshHost = {
	host: word(
		"Name or address, as ssh takes it.",
		["10.0.0.11"],
		[/^(?:(?!-)[\w.-]+|[\da-fA-F:.]+)$/, tell("rig-host")],
	),
	user: word("Default: ssh's own choice.", [], [/^(?!-)[\w.-]+$/, tell("rig-user")]).optional(),
	port: z.int().min(1).max(65_535).optional().meta({ description: "Default: ssh's own choice." }),
	identity: word(
		"File of a private key, from this file's folder. Default: ssh's own choice.",
	).optional(),
	knownHosts: word(
		"File that keeps the hosts' own keys, from this file's folder: one that is not in it yet is taken at the first contact. Default: ssh's own way.",
	).optional(),
	hostKeyKnown: flag(
		"The host's own key was in knownHosts before anybody connected, as with machines that mqbench rents: another one is refused, and so is one that is not in it.",
	).default(false),
	setUp: flag(
		"It is prepared by mqbench's set-up script (infra/aws/user-data): nothing is done on it before that says ready.",
	).default(false),
	bootMinutes: z.int().min(1).max(60).optional().meta({
		description:
			"With `setUp`: how long it may take until ssh lets in. Default: 3; machines without a hypervisor take longer.",
	}),
};

export const Cloud = z.strictObject({
	provider: z.literal("aws"),
	region: z.string().min(1),
	profile: orNull(Word, "Of AWS's configuration files; null: the environment's."),
	account: orNull(
		z.string().regex(/^\d{12}$/, tell("rig-account")),
		"Of AWS, in which it is: with credentials of another one nothing is taken down. null: not known.",
		["123456789012"],
	),
	owner: word("Tag of all of it."),
	machines: described(z.record(z.string(), z.int().positive()), "How many of each type.", [
		{ "i4i.xlarge": 3, "c6in.xlarge": 2 },
	]),
	hourlyUsd: orNull(z.number().nonnegative(), "What all of it costs an hour; null: not known."),
	endsAt: orNull(
		z.iso.datetime(),
		"Machines may end themselves from then on (their `ttl`, counted from the renting): what is measured is to be over by then. Before `expiresAt`, from which on a sweep may remove what is left. null: not known.",
	),
	state: orNull(
		Word,
		"Folder of mqbench with Pulumi's state of it; null: it was stood up by hand.",
	),
});
export type Cloud = z.infer<typeof Cloud>;

/** `rig.json`: a rig that stays up between commands. It may hold passwords: mode 0600, never in a report. */
export const RigFile = z
	.strictObject({
		version: z.literal(1).meta({ description: "Of this file's form." }),
		id: word(
			"Name of the rig, and of what is tagged with it.",
			["staging"],
			[/^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/, tell("rig-name")],
		),
		target: z.enum(RIG_TARGETS).default("existing").meta({
			description:
				"What stood it up. `existing`: it was there, and nothing of it is mqbench's to take down.",
		}),
		createdAt: z.iso.datetime().optional().meta({ description: "When it was stood up." }),
		expiresAt: orNull(
			z.iso.datetime(),
			"From then on it is not to be counted on; null: it has no end.",
		),
		brokers: listOf({
			system: word("Key of the system in the scenario.", [example.broker]),
			broker: z.enum(realBrokers).meta({ description: "Its kind." }),
			url: orNull(Word, "As clients reach it, password included; null: there are hosts instead.", [
				example.url("me:secret@10.0.0.5"),
			]),
			hosts: described(
				listOf({
					...sshHost,
					address: described(
						z
							.string()
							.refine((text) => isIP(text) !== 0 && !text.includes("%"), tell("rig-address")),
						"Of IPv4 or IPv6, its own, as clients and the other nodes reach it; brokers listen there alone.",
						["10.0.0.5"],
					),
				}),
				"Hosts for SSH, one for each node: mqbench starts fresh nodes of the broker on them for every run. Empty: it is up, at its url.",
			).default([]),
			server: described(z.string().default(""), "What it is; empty: the driver finds out.", [
				`${brokerOf(example).title} 4.1.1`,
			]),
			level: orNull(
				Level,
				"The durability that it was set up for: a run that asks for another one is refused. null: the broker's own; of target existing not known.",
			),
			messageBytes: orNull(
				z.int().positive(),
				"Largest payload that it was set up for; null: not known.",
			),
			settings: z
				.record(z.string(), z.string())
				.default({})
				.meta({ description: "Settings that reports show, by their real names." }),
			topology: orNull(
				z.string(),
				"Where its nodes run, as reports show it; with hosts mqbench says it itself.",
				["3 nodes on 3 hosts"],
			),
			machine: orNull(z.string(), "Type of its hosts' machines; null: not known.", ["i4i.xlarge"]),
			nodesShareHost: flag("Nodes share one host: reports say so.").default(false),
			sameHost: z.boolean().default(false).meta({
				description: "It shares this machine's cores with a generator that runs here.",
			}),
			asked: orNull(
				z.record(z.string(), z.json()),
				"What the scenario asked of it when it was stood up (nodes, version, binary, heap, config, pin): a run that asks for something else is refused. null: not known.",
			),
		})
			.min(1)
			.meta({ description: "One for each system of the scenario, by its key." }),
		clients: z.array(z.strictObject(sshHost)).default([]).meta({
			description:
				"Hosts for SSH that make the load, unless the scenario or --clients names its own; empty: this machine.",
		}),
		cloud: Cloud.nullable()
			.default(null)
			.meta({ description: "Only for rented machines; null: nothing is rented." }),
		facts: z
			.record(z.string(), z.json())
			.default({})
			.meta({ description: "What people may want to know of it: machines, kernel, zone, clock." }),
	})
	.superRefine(({ brokers, clients, cloud }, context) => {
		const wrong = (message: string, ...path: (string | number)[]) =>
			context.addIssue({ code: "custom", path: ["brokers", ...path], message });
		for (const [i, { system, url, hosts }] of brokers.entries()) {
			if (brokers.findIndex((other) => other.system === system) < i)
				wrong(tell("rig-system-twice"), i, "system");
			if (url !== null && hosts.length > 0) wrong(tell("rig-url-and-hosts"), i);
			// Rented machines have no URL until they are up.
			if (url === null && hosts.length === 0 && cloud === null)
				wrong(tell("rig-without-url"), i, "url");
			// Only its own host reaches a loopback address.
			for (const [k, { address, host }] of hosts.entries())
				if (isLoopback(address) && [...hosts, ...clients].some((one) => one.host !== host))
					wrong(tell("rig-loopback"), i, "hosts", k, "address");
		}
		const places = clients.map(({ host, port = 22 }) => `${host.toLowerCase()}:${port}`);
		for (const [i, place] of places.entries())
			if (places.indexOf(place) < i)
				context.addIssue({
					code: "custom",
					path: ["clients", i],
					message: tell("rig-client-twice"),
				});
	});
export type RigFile = z.infer<typeof RigFile>;
export type RigFileInput = z.input<typeof RigFile>;

/** Returns all mistakes with their places ("brokers[0].url"). Never quotes values: one may be a password. */
export function parseRig(text: string): { rig: RigFile } | { wrong: string[] } {
	let value: unknown;
	try {
		value = JSON.parse(text.replace(/^\ufeff/, ""));
	} catch {
		// The parser's message quotes the text, passwords included.
		return { wrong: [tell("rig-not-json")] };
	}
	const { data, error } = RigFile.safeParse(value);
	if (data) return { rig: data };
	const at = (path: readonly PropertyKey[]) => z.core.toDotPath(path) || "the file";
	return { wrong: error.issues.map(({ path, message }) => `${at(path)}: ${message}`) };
}

/** Each machine is its own loopback. */
export function isLoopback(host: string): boolean {
	const url = `http://${host.includes(":") ? `[${host}]` : host}`;
	// Normalizes spellings: 0:0:0:0:0:0:0:1 is ::1.
	const name = URL.canParse(url) ? new URL(url).hostname : host;
	return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(name);
}
