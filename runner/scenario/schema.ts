import { z } from "zod";
import { parseBytes, parseRate } from "../units.ts";
import { BrokerName, Delivery, Order, SystemOptions } from "./brokers.ts";
import { count, parsed, span, unit } from "./field.ts";
import { parseSla } from "./sla.ts";

/**
 * The language of a scenario file. The one definition: types, validation, the editor's schema
 * (`scenarios/scenario.schema.json`) and the field reference (`scenarios/README.md`) come from here.
 */

/** Bytes at the start of each payload that carry run, sequence and stamps. */
export const ENVELOPE_BYTES = 40;
/** Bytes at its end that carry the CRC32C, with `checksum: true`. */
export const CHECKSUM_BYTES = 4;

export const Target = z.enum(["local", "existing"]);
export type Target = z.infer<typeof Target>;
export const Pattern = z.enum(["round-trip"]);
export type Pattern = z.infer<typeof Pattern>;
export const Payload = z.enum(["random", "zeros"]);
export type Payload = z.infer<typeof Payload>;

const fields = {
	pattern: Pattern.meta({
		description:
			"What messages do. `round-trip`: the sender receives its own message through the broker.",
	}),
	rate: unit(parseRate, {
		description:
			"Scheduled messages per second, all producers together. Open loop: nothing slows it down.",
		examples: ["3000/s", "90/min"],
	}),
	message: unit(
		parseBytes,
		{
			description: `Size of a payload, its ${ENVELOPE_BYTES} bytes of envelope included. KB = 1000, KiB = 1024 bytes.`,
			examples: ["256B", "1KiB"],
		},
		(bytes) => {
			if (bytes < ENVELOPE_BYTES)
				return `message must be at least ${ENVELOPE_BYTES}B: that much is the envelope with number and stamps`;
			if (bytes > 1024 ** 3) return "message must be at most 1GiB";
			return undefined;
		},
	),
	duration: span(
		"The measured part of a run, after the warm-up.",
		["10s", "5min"],
		"above 0",
	),
	warmup: span("Sent before the measured part, counted apart.", ["5s"]),
	drain: span(
		"How long to wait for messages after the last one was due.",
		["30s"],
		"above 0",
	),
	timeout: span(
		"A message that completes later than this counts as late; its true time is recorded all the same. Default: drain.",
		["1s"],
		"above 0",
	),
	inFlight: count(
		"Most messages of one producer that are sent and not completed; at the limit it waits, and the wait is measured. Default: no limit.",
		1_000_000,
		[1000],
	),
	connections: count("Connections to the broker.", 10_000, [25]),
	producers: count(
		"Independent sequences of messages; producer p uses connection p mod connections. Default: connections.",
		100_000,
		[25],
	),
	topics: count(
		"Topics; producer p sends to topic p mod topics. Default: connections.",
		100_000,
		[25],
	),
	payload: Payload.meta({
		description:
			"Bytes after the envelope: `random` (the same ones for every system) or `zeros`.",
	}),
	checksum: z.boolean().meta({
		description: `Every payload ends in its CRC32C (${CHECKSUM_BYTES} bytes), checked at the receipt; adds the gate \`corrupted == 0\`.`,
	}),
	delivery: Delivery.meta({
		description:
			"What must hold of each message, whatever the broker promises: `at-least-once` adds the gate `lost == 0`, `exactly-once` also `duplicated == 0`. Default: the broker's own promise.",
	}),
	order: Order.meta({
		description:
			"In which order messages must arrive. `per-producer`: each producer's in the order of sending; adds the gate `reordered == 0`.",
	}),
};

/** A workload with every default that doesn't depend on another field. What each case resolves to. */
export const Workload = z.strictObject({
	pattern: fields.pattern.default("round-trip"),
	rate: fields.rate,
	message: fields.message,
	duration: fields.duration,
	warmup: fields.warmup.prefault("5s"),
	drain: fields.drain.prefault("30s"),
	timeout: fields.timeout.optional(),
	inFlight: fields.inFlight.optional(),
	connections: fields.connections.default(1),
	producers: fields.producers.optional(),
	topics: fields.topics.optional(),
	payload: fields.payload.default("random"),
	checksum: fields.checksum.default(false),
	delivery: fields.delivery.optional(),
	order: fields.order.default("none"),
});
export type Workload = z.infer<typeof Workload>;
export type WorkloadField = keyof typeof fields;
export const workloadFields = Object.keys(fields) as WorkloadField[];

/** Fields that a case cannot do without; they come from `workload` or from the case. */
export const neededFields = [
	"rate",
	"message",
	"duration",
] as const satisfies WorkloadField[];

/** Fields are optional here, as cases may bring them. */
const SharedWorkload = Workload.partial({
	rate: true,
	message: true,
	duration: true,
});

const CaseOverrides = z
	.strictObject({
		name: z
			.string()
			.min(1)
			.max(80)
			.regex(
				/^[^\p{C}*?]+$/u,
				"name of a case must be one line of text without * and ?",
			)
			.meta({
				description:
					'Unique name. Default: what the case overrides, "1KiB 3000/s".',
				examples: ["small, fast"],
			}),
		...fields,
	})
	.partial();

const System = z.union([BrokerName, SystemOptions]).meta({
	description: "A broker's name, or a map with its settings.",
	examples: ["nats"],
});

const SlaText = z
	.string()
	.meta({
		description: "[metric] percentile op limit; the metric is response.",
		examples: ["p99 < 20ms", "service p99.9 <= 5ms", "lost == 0"],
	})
	.transform(parsed(parseSla));

export const SlaEntry = z.union([
	SlaText,
	z.strictObject({
		expect: SlaText,
		system: z.string().optional().meta({
			description: "Key of the one system it is for. Default: all.",
		}),
		case: z.string().optional().meta({
			description:
				"Name of the one case it is for, or the words it begins with. Default: all.",
		}),
		abort: z.boolean().default(false).meta({
			description: "A run that cannot meet it any more is stopped.",
		}),
	}),
]);

/** Keys of systems and names of scenarios become parts of topics, folders and of `--only`. */
export const Name = z
	.string()
	.max(80)
	.regex(
		// Two dots in a row would be an empty part of a NATS subject, a dot at the end a folder that Windows renames.
		/^(?!.*\.\.)[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9_-])?$/,
		"a name has letters, digits, - _ and single dots between them, and begins with a letter or digit",
	);

export const ScenarioFile = z.strictObject({
	name: Name.optional().meta({
		description: "Default: the file's name without its extension.",
		examples: ["quickstart"],
	}),
	target: Target.default("local").meta({
		description:
			"Where the brokers run. `local`: mqbench starts them on this machine; `existing`: they are yours, each system has a url. `--target` overrides.",
	}),
	system: System.optional().meta({
		description:
			"The one system to measure; a scenario has either this or systems.",
		examples: ["nats"],
	}),
	systems: z
		.record(Name, System)
		.optional()
		.meta({
			description:
				"Systems to compare, by the name that reports give them; they take turns, so that drift of the machine hits all alike.",
			examples: [{ nats: "nats", floor: "noop" }],
		}),
	workload: SharedWorkload.optional().meta({
		description: "What each run does; cases override single fields.",
	}),
	cases: z
		.array(CaseOverrides)
		.min(1)
		.optional()
		.meta({
			description: "One run each: the workload with these fields replaced.",
			examples: [[{ message: "256B" }, { message: "1KiB", rate: "2000/s" }]],
		}),
	repeat: count("How often the whole list of runs is made.", 1000, [3]).default(
		1,
	),
	sla: z
		.array(SlaEntry)
		.default([])
		.meta({
			description:
				"What must hold, judged per system and case. Decides the exit code.",
			examples: [["p99 < 20ms", "lost == 0"]],
		}),
	strict: z.boolean().default(false).meta({
		description:
			"A percentile that the samples cannot carry is then an error, not INCONCLUSIVE.",
	}),
});
export type ScenarioFile = z.infer<typeof ScenarioFile>;
