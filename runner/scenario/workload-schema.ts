import { z } from "zod";
import { count, number, span, unit, warmup } from "../model/field.ts";
import { Pattern, plainInput } from "../model/workload.ts";

/** The fields of a workload: what a scenario may write in them. Cases and matrices take the same ones. */

/** Bytes at the start of each payload that carry run, sequence and stamps. */
export const ENVELOPE_BYTES = 40;
/** Bytes at its end that carry the CRC32C, with `checksum: true`. */
export const CHECKSUM_BYTES = 4;
/** Bytes behind the envelope that tell a client which receives others' messages how late they were sent. */
export const LAG_BYTES = 8;

const rate = (description: string, examples: string[]) =>
	unit("rate", { description, examples });

const Stage = z.strictObject({
	duration: span("How long the rate takes to get there.", ["30s"], "above 0"),
	target: rate("The rate at its end.", ["10000/s"]),
});

const Step = z.strictObject({
	rate: rate("The rate of this step.", ["1000/s"]),
	duration: span(
		"How long it lasts: whole seconds, as reports show steps by the second.",
		["10s"],
		"above 0",
	),
});

const Payload = z.union([
	z.enum(["random", "zeros"]),
	z.strictObject({
		file: z
			.string()
			.min(1)
			.meta({
				description:
					"File whose bytes payloads walk through, relative to the scenario's folder.",
				examples: ["orders.json"],
			}),
	}),
	z.strictObject({
		random: number(
			"Which part of each payload is random, 0 to 1; the rest is zeros, which compress.",
			[0.3],
			{ least: 0, most: 1 },
		),
	}),
]);

/** Each field of a workload: what may be written, and its default where that depends on no other field. */
const fields = {
	pattern: Pattern.meta({
		description:
			"What messages do. `round-trip`: the sender receives its own message through the broker; `request-reply`: a responder sends it back; `fan-out`: every subscriber gets a copy; `work-queue`: competing consumers, acknowledged; `publish`: nobody receives, the acknowledgement counts; `backlog`: consumers pause while messages pile up, then drain them.",
	}).default("round-trip"),
	rate: rate(
		"Scheduled messages per second, all producers together. Open loop: nothing slows it down. With stages: where they begin.",
		["3000/s", "90/min"],
	).optional(),
	arrivals: z
		.enum(["constant", "poisson"])
		.meta({
			description:
				"When messages are due: at equal distances, or `poisson`: independent of each other, bursts included, with `rate` as the mean.",
		})
		.optional(),
	seed: z
		.int()
		.min(0)
		.max(0xffff_ffff)
		.meta({
			description:
				"Of the poisson arrivals: the same seed gives the same times, for every system. Default: 1.",
			examples: [1],
		})
		.optional(),
	stages: z
		.array(Stage)
		.min(1)
		.max(1000)
		.meta({
			description:
				"A rate that changes along straight lines, from `rate` on; their durations add up to the measured part. The warm-up runs at `rate`.",
			examples: [[{ duration: "30s", target: "10000/s" }]],
		})
		.optional(),
	steps: z
		.array(Step)
		.min(1)
		.max(1000)
		.meta({
			description:
				"One constant rate after the other, shown one by one in reports; their durations add up to the measured part. The warm-up runs at the first one's rate.",
			examples: [
				[
					{ rate: "1000/s", duration: "10s" },
					{ rate: "2000/s", duration: "10s" },
				],
			],
		})
		.optional(),
	messages: count(
		"Closed loop instead of a rate: this many messages, as fast as `inFlight` allows. Shows throughput and service time, no queueing.",
		1_000_000_000,
		[1_000_000],
	).optional(),
	find: z
		.enum(["max-rate"])
		.meta({
			description:
				"Searches the highest rate that still meets the sla with nothing lost; `rate` is where it begins.",
		})
		.optional(),
	backlog: z
		.union([
			z.int().min(1).max(1_000_000_000),
			unit(
				"size",
				{
					description: "Payload bytes that pile up.",
					examples: ["1GiB"],
				},
				(bytes) => (bytes === 0 ? "must be above 0" : undefined),
			).transform((bytes) => ({ bytes })),
		])
		.meta({
			description:
				"`backlog`: messages that pile up, or their size, while consumers pause. They pause after a fifth of the duration.",
			examples: [100_000, "1GiB"],
		})
		.optional(),
	duration: span(
		"The measured part of a run, after the warm-up. With messages: the longest that the run may take (default 10min).",
		["10s", "5min"],
		"above 0",
	).optional(),
	warmup: warmup(
		"Sent before the measured part, counted apart: a duration, or `steady`: until p50 has no trend, 14s to 60s, then a warning; with messages a number of them. Default: 5s; with messages a tenth of them.",
		["5s", "steady", "10000 messages"],
	).optional(),
	drain: span(
		"How long to wait for messages after the last one was due.",
		["30s"],
		"above 0",
	).prefault("30s"),
	timeout: span(
		"A message that completes later than this counts as late; its true time is recorded all the same. One that has not completed so long after its send no longer counts against `inFlight`. Default: drain.",
		["1s"],
		"above 0",
	).optional(),
	message: unit(
		"size",
		{
			description: `Size of a payload, its ${ENVELOPE_BYTES} bytes of envelope included. KB = 1000, KiB = 1024 bytes.`,
			examples: ["256B", "1KiB"],
		},
		(bytes) => {
			if (bytes < ENVELOPE_BYTES)
				return `must be at least ${ENVELOPE_BYTES}B, which number and time stamps take`;
			if (bytes > 1024 ** 3) return "must be at most 1GiB";
			return undefined;
		},
	),
	payload: Payload.meta({
		description:
			"Bytes after the envelope, the same ones for every system: `random`, `zeros`, those of a file, or a part of them random.",
		examples: ["random", { file: "orders.json" }, { random: 0.3 }],
	}).default("random"),
	checksum: z
		.boolean()
		.meta({
			description: `Every payload ends in its CRC32C (${CHECKSUM_BYTES} bytes), checked at the receipt; adds the gate \`corrupted == 0\`.`,
		})
		.default(false),
	...plainInput,
};

/** A workload with every default that doesn't depend on another field. What each case resolves to. */
const WorkloadFile = z.strictObject(fields);
export type WrittenWorkload = z.infer<typeof WorkloadFile>;
export type WorkloadField = keyof typeof fields;
export const workloadFields = Object.keys(fields) as WorkloadField[];
/** Those that no workload is without. */
export const requiredFields = workloadFields.filter(
	(field) => !(fields[field] instanceof z.ZodOptional),
);

/** Cases and matrices have no defaults: what they leave out is the workload's. */
export const overrides = Object.fromEntries(
	Object.entries(fields).map(([field, schema]) => [field, written(schema)]),
) as { [F in WorkloadField]: Written<(typeof fields)[F]> };
type Written<T> = T extends
	| z.ZodOptional<infer Inner>
	| z.ZodDefault<infer Inner>
	| z.ZodPrefault<infer Inner>
	? Inner
	: T;
function written(schema: z.ZodType): unknown {
	return schema instanceof z.ZodOptional ||
		schema instanceof z.ZodDefault ||
		schema instanceof z.ZodPrefault
		? schema.unwrap()
		: schema;
}

/** Fields are optional here, as cases may bring them. */
export const SharedWorkload = WorkloadFile.partial({ message: true });
