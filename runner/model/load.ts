import path from "node:path";
import { z } from "zod";
import { tell } from "../text/tell.ts";
import {
	formatBytesExact,
	formatCount,
	formatDurationExact,
	formatRate,
	UNIT_PATTERNS,
} from "../units.ts";
import {
	bytes,
	Count,
	count,
	described,
	flag,
	Ns,
	number,
	type Size,
	size,
	sizeText,
	span,
	unit,
	warmup,
	word,
} from "./field.ts";
import { Sizes } from "./sizes.ts";

export const PATTERNS = [
	"round-trip",
	"request-reply",
	"fan-out",
	"work-queue",
	"publish",
	"backlog",
	"connect",
] as const;
/** Only beside another load, whose messages it reads. */
export const CATCH_UP = "catch-up";
export type MainPattern = (typeof PATTERNS)[number];
export const Pattern = z.enum([...PATTERNS, CATCH_UP]);
export type Pattern = z.infer<typeof Pattern>;

/** Bytes at the start of each payload that hold run, sequence, stamps and lag. */
export const ENVELOPE_BYTES = 48;
export const MOST_BYTES = 1024 ** 3;
export const CHECKSUM_BYTES = 4;

const Rate = z.strictObject({ messages: z.int().positive(), perNs: z.int().positive() });

const MaybeIdle = Rate.extend({ messages: Count });

/** Open loads (all but `closed`) fix intended times: message i is due offset(i) after T0 (offset.ts, schedule.go). */
export const Schedule = z.strictObject({
	kind: z.enum(["constant", "poisson", "stages", "closed"]),
	/** An exact ratio, null if closed. The mean if poisson, the highest if stages. If constant, offset(i) = floor(i * perNs / messages). */
	rate: Rate.nullable(),
	seed: Count.default(0),
	/** stages: from T0 on without gaps, the warm-up first; the rate changes linearly. Else empty. */
	pieces: z.array(z.strictObject({ durationNs: Ns, from: MaybeIdle, to: MaybeIdle })).default([]),
	/** 0 if closed. Until steady, the longest. */
	warmupNs: Ns,
	/** The window opens as soon as latency is steady, this long after T0. If null, it opens at warmupNs. */
	steady: z.strictObject({ fromNs: Ns, toNs: Ns }).nullable().default(null),
	/** closed: the longest that it may take, warm-up included. */
	durationNs: Ns,
	/** Messages intended before the window opens, and in all (offset < warmup + duration). */
	warmupMessages: Count,
	messages: Count,
});
export type Schedule = z.infer<typeof Schedule>;

type Counts = "messages" | "warmupMessages";
/** A schedule before its messages are counted; a closed one fixes their number. */
export type Times =
	| (Schedule & { kind: "closed" })
	| (Omit<Schedule, "kind" | Counts> & { kind: Exclude<Schedule["kind"], "closed"> });

export const loadInPlan = {
	/** In whole seconds from the window's start: the steps of a load, or the "before", "build" and "drain" of a backlog. */
	phases: z.array(z.strictObject({ name: z.string(), fromNs: Ns, toNs: Ns })).default([]),
	/** backlog: consumers take nothing in [pauseNs, resumeNs) after T0, while `messages` pile up. */
	backlog: z.strictObject({ pauseNs: Ns, resumeNs: Ns, messages: Count }).nullable().default(null),
	drainNs: Ns,
	timeoutNs: Ns,
};

export const Message = z.strictObject({
	/** Of the largest, if they have several sizes. */
	bytes: z.int().min(40),
	sizes: Sizes.nullable().default(null),
	/** The system's limit, if `bytes` exceed it on purpose. */
	limitBytes: z.int().nullable().default(null),
	payload: z.enum(["random", "zeros", "file"]),
	/** random: the random part of each payload, 0 .. 1; the rest is zeros. */
	randomRatio: z.number().min(0).max(1).default(1),
	file: z.string().nullable().default(null),
	seed: Count,
	checksum: z.boolean(),
});

export const loadInResult = {
	randomRatio: z.number(),
	warmupNs: Ns,
	durationNs: Ns,
	drainNs: Ns,
	timeoutNs: Ns,
	/** The mean, if there are several `sizes`. */
	messageBytes: Count,
	sizes: z.string().optional(),
	limitBytes: Count.nullable().default(null),
	payload: z.string(),
};
export interface LoadInResult extends z.output<z.ZodObject<typeof loadInResult>> {
	readonly schedule: Schedule;
	readonly backlog: Load["backlog"];
	readonly checksum: boolean;
}

export interface Load extends Readonly<z.output<z.ZodObject<typeof loadInPlan>>> {
	readonly schedule: Times;
	/** Each system has its own limit, so bytes belong to a plan. */
	readonly message: { readonly size: Size } & Omit<
		z.output<typeof Message>,
		"seed" | "bytes" | "sizes" | "limitBytes"
	>;
	/** A search only begins at the schedule's rate. If null, this rate is measured. */
	readonly find: "max-rate" | null;
}

const rate = (description: string, examples: string[]) => unit("rate", { description, examples });

const Stage = z.strictObject({
	duration: span("How long the rate takes to reach `target`.", ["30s"]),
	target: rate("Rate at the end of the stage.", ["10000/s"]),
});

const Step = z.strictObject({
	rate: rate("Rate of this step; 0/s: nothing is sent.", ["1000/s"]),
	duration: span("Its length, in whole seconds.", ["10s"]),
});

const Payload = z.union([
	z.enum(["random", "zeros"]),
	z.strictObject({
		file: word(
			"File from which payloads take their bytes in turn, relative to the scenario's folder.",
			["orders.json"],
		),
	}),
	z.strictObject({
		random: number(
			"Random part of each payload, 0 to 1. The rest is zeros, which compress.",
			[0.3],
			{ least: 0, most: 1 },
		),
	}),
]);

const complaint = (bytes: number) => {
	if (bytes < ENVELOPE_BYTES) return tell("message-too-small", { least: ENVELOPE_BYTES });
	return bytes > MOST_BYTES ? "must be at most 1GiB" : undefined;
};
const sized = (description: string, example: string) =>
	bytes(description, [example], ENVELOPE_BYTES, MOST_BYTES);

const Share = z
	.string()
	.regex(/^\s*[0-9]+(\.[0-9]+)?\s*%\s*$/, tell("share-form"))
	.transform(Number.parseFloat)
	.meta({ description: "Share of the messages.", examples: ["80%"] });

const MessageSize = described(
	z.union([
		size({ description: "Size of all messages.", examples: ["256B"] }, complaint),
		z.strictObject({
			median: sized("Median of a lognormal distribution.", "1KiB"),
			p99: sized("Its 99th percentile.", "32KiB"),
			max: sized(
				"Larger ones get this size, and ones smaller than the envelope get the envelope's.",
				"1MiB",
			),
		}),
		z.strictObject({
			file: word("File with a size per line, taken in turn, relative to the scenario's folder.", [
				"sizes.txt",
			]),
		}),
		z
			.record(z.string().regex(new RegExp(UNIT_PATTERNS.size), tell("name-sizes")), Share)
			.transform((shares) => ({ shares }))
			.meta({ description: "Sizes and their shares.", examples: [{ "256B": "80%" }] }),
	]),
	`Payload size, including mqbench's envelope of ${ENVELOPE_BYTES} bytes. \`limit\`: the largest message that each system takes, by its \`config\` or mqbench's set-up; \`limit + 1B\` exceeds it on purpose. Or several sizes (\`{ 256B: 80%, 4KiB: 20% }\`, a distribution, a file), in the same order for every system; results show latency by size.`,
	[
		"256B",
		"limit + 1B",
		{ "256B": "80%", "4KiB": "20%" },
		{ median: "1KiB", p99: "32KiB", max: "1MiB" },
		{ file: "sizes.txt" },
	],
);

export type WrittenSize = z.output<typeof MessageSize>;

/** Name, text for the plainest work (or null), text of a value. Released texts never change because stored baselines hash them. */
export type Fact<Value> = readonly [
	name: string,
	plain: string | null,
	text: (value: Value) => string,
];

export interface Part {
	readonly input: z.ZodType;
	readonly only?: readonly Pattern[];
	readonly inName?: (load: Load) => string;
	readonly fact?: Fact<LoadInResult>;
}

export const LOAD_FIELDS = {
	rate: {
		input: rate(
			"Scheduled messages per second, all producers together (open loop); with `stages` and `find` the first rate.",
			["3000/s", "90/min"],
		).optional(),
		fact: ["load", null, loadText],
	},
	arrivals: {
		input: described(
			z.enum(["constant", "poisson"]),
			"When messages are due. `constant`: at equal intervals; `poisson`: at random, with bursts and the mean `rate`. Default: constant.",
		).optional(),
	},
	seed: {
		input: described(
			z.int().min(0).max(0xffff_ffff),
			"For `arrivals: poisson`: the same seed gives every system the same times. Default: 1.",
			[1],
		).optional(),
		inName: ({ schedule }) => (schedule.kind === "poisson" ? `seed ${schedule.seed}` : ""),
	},
	stages: {
		input: described(
			z.array(Stage).min(1).max(1000),
			"The rate changes linearly, starting at `rate`, which is also the warm-up's. The durations add up to the measured part.",
			[[{ duration: "30s", target: "10000/s" }]],
		).optional(),
	},
	steps: {
		input: described(
			z.array(Step).min(1).max(1000),
			"Constant rates, one after another; reports show each. The first is also the warm-up's. The durations add up to the measured part.",
			[
				[
					{ rate: "1000/s", duration: "10s" },
					{ rate: "2000/s", duration: "10s" },
				],
			],
		).optional(),
	},
	messages: {
		input: count(
			"Closed loop: this many messages, as fast as `inFlight` allows. Shows throughput and service time, no queueing.",
			1_000_000_000,
			[1_000_000],
		).optional(),
	},
	find: {
		input: described(
			z.enum(["max-rate"]),
			"Find the highest rate that meets the SLA with nothing lost.",
		).optional(),
		inName: ({ find }) => (find === null ? "" : `find ${find}`),
	},
	backlog: {
		input: described(
			z.union([
				z.int().min(1).max(1_000_000_000),
				unit("size", { description: "Payload bytes that pile up.", examples: ["1GiB"] }, (bytes) =>
					bytes === 0 ? "must be above 0" : undefined,
				).transform((bytes) => ({ bytes })),
			]),
			"`backlog`: messages (or bytes) that pile up while consumers pause, from a fifth of the duration on.",
			[100_000, "1GiB"],
		).optional(),
		only: ["backlog"],
		inName: ({ backlog }) => (backlog === null ? "" : `${backlog.messages} waiting`),
	},
	duration: {
		input: span(
			"Length of the measured part; with `find` of each step (3s or more; longer where the SLA's percentile needs it), with `messages` its limit. Default: with `find` 15s, with `messages` 10min.",
			["10s", "5min"],
		).optional(),
		inName: ({ schedule }) => formatDurationExact(schedule.durationNs),
		fact: ["duration", null, (run) => formatDurationExact(run.durationNs)],
	},
	warmup: {
		input: warmup(
			"What is sent before the measured part. `steady`: until p50 is level (14s to 90s, then a warning). Default: 5s; with `messages` a tenth of them; `steady` on a JVM (one client, at least 10/s, no stages, steps, backlog, find or faults).",
			["5s", "steady", "10000 messages"],
		).optional(),
		inName: ({ schedule }) =>
			`warmup ${schedule.kind === "closed" ? schedule.warmupMessages : schedule.steady ? "steady" : formatDurationExact(schedule.warmupNs)}`,
		fact: ["warm-up", null, warmupText],
	},
	drain: {
		input: span("How long to wait for messages after the last one was due.", ["30s"]).prefault(
			"30s",
		),
		inName: ({ drainNs }) => `drain ${formatDurationExact(drainNs)}`,
		fact: ["drain", null, (run) => formatDurationExact(run.drainNs)],
	},
	timeout: {
		input: span(
			"A message that takes longer counts as late, and no longer towards `inFlight`; its true time is recorded. Default: `drain`.",
			["1s"],
		).optional(),
		inName: ({ timeoutNs }) => `timeout ${formatDurationExact(timeoutNs)}`,
		fact: ["timeout", null, (run) => formatDurationExact(run.timeoutNs)],
	},
	message: {
		input: MessageSize,
		inName: ({ message }) => sizeText(message.size),
		fact: [
			"message",
			null,
			// Files of one name may differ, which shows in their means.
			({ sizes, messageBytes }) =>
				`${sizes === undefined ? "" : `${sizes}, mean `}${formatBytesExact(messageBytes)}`,
		],
	},
	payload: {
		input: Payload.meta({
			description: "Bytes after the envelope, the same for every system.",
			examples: ["random", { file: "orders.json" }, { random: 0.3 }],
		}).default("random"),
		inName: ({ message: { payload, randomRatio, file } }) => {
			if (file !== null) return path.basename(file);
			if (randomRatio === 1) return payload;
			return `${Number((randomRatio * 100).toPrecision(6))}% random`;
		},
		fact: [
			"payload",
			null,
			({ payload, randomRatio: ratio }) => (ratio === 1 ? payload : `${payload}, ${ratio} of it`),
		],
	},
	checksum: {
		input: flag(
			`Every payload ends with its CRC32C (${CHECKSUM_BYTES} bytes), which consumers check. Adds the SLA line \`corrupted == 0\`.`,
		).default(false),
		inName: ({ message }) => (message.checksum ? "checksum" : "no checksum"),
		fact: ["checksum", "no", (run) => (run.checksum ? "yes" : "no")],
	},
} satisfies Readonly<Record<string, Part>>;

export function windowPieces({ pieces, warmupNs }: Times): Times["pieces"] {
	return pieces.slice(warmupNs > 0 ? 1 : 0);
}

/** "3000/s", "1000/s to 5000/s in 3 stages", "100000 messages" */
export function loadName({ schedule, phases }: Load): string {
	if (schedule.kind === "closed") return `${schedule.messages - schedule.warmupMessages} messages`;
	const { kind, rate } = schedule;
	const pieces = windowPieces(schedule);
	const [first, last] = [pieces[0], pieces.at(-1)];
	if (!first || !last)
		return `${rate === null ? "" : formatRate(rate)}${kind === "poisson" ? " poisson" : ""}`;
	const [from, to] = [formatRate(first.from), formatRate(last.to)];
	const noun = phases.length > 0 ? "step" : "stage";
	return `${from === to ? from : `${from} to ${to}`} in ${pieces.length} ${noun}${pieces.length === 1 ? "" : "s"}`;
}

// --- internal ---

function loadText({ schedule, backlog }: LoadInResult): string {
	const rate = schedule.rate === null ? "" : formatRate(schedule.rate);
	const backlogText =
		backlog === null
			? ""
			: `, backlog of ${formatCount(backlog.messages)} messages from ${formatDurationExact(backlog.pauseNs)} to ${formatDurationExact(backlog.resumeNs)}`;
	switch (schedule.kind) {
		case "closed":
			return `${formatCount(schedule.messages)} messages, closed loop${backlogText}`;
		case "stages":
			return `${schedule.pieces.map((p) => `${formatRate(p.from)} to ${formatRate(p.to)} in ${formatDurationExact(p.durationNs)}`).join(", ")}${backlogText}`;
		default:
			return `${rate} ${schedule.kind}${backlogText}`;
	}
}

function warmupText({ schedule, warmupNs }: LoadInResult): string {
	if (schedule.kind === "closed") return `${formatCount(schedule.warmupMessages)} messages`;
	return schedule.steady ? "until steady" : formatDurationExact(warmupNs);
}
