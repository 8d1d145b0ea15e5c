import { z } from "zod";
import { described, listOf } from "./field.ts";

const SaidList = z.array(z.union([z.string(), z.number()]));
const SaidValue = z.union([z.string(), z.number(), z.boolean(), z.null(), SaidList]);

/** For programs, next to a sentence: its code and values. Absent in results of earlier versions. */
export const SaidFields = {
	code: described(z.string().optional(), "What the sentence says; permanent once released."),
	values: described(
		z.record(z.string(), SaidValue).optional(),
		"What the sentence names. Numbers have their unit in the name: ...Ns, ...PerSecond, ...Seconds, share and ...Share (parts of 1); others are counts. of: the code of the first half, where a second one decides.",
	),
};

/** Judges the median of all ratios B/A (Hodges-Lehmann; A: baseline) by ranks (reports/METHOD.md, "Comparing two sets of runs"). */
const Compared = z.enum(["regressed", "improved", "same", "inconclusive"]);

const Side = z.strictObject({
	name: z.string(),
	runs: z.int().nonnegative(),
	/** In the order of the runs: ns, or messages per second. */
	values: z.array(z.number().nonnegative()),
	median: z.number().nonnegative().nullable(),
	weak: z.boolean().default(false),
});

export const Comparison = z.strictObject({
	/** B's name; A's differs when two systems of one run are compared. */
	system: z.string(),
	case: z.string(),
	metric: z.string(),
	unit: z.enum(["ns", "messages/s", "bytes"]),
	a: Side,
	b: Side,
	/** B/A, null if one side has no value. 1.1: B's latency is 10 % higher. */
	ratio: z.number().nonnegative().nullable(),
	/** Exact interval of the ratio, null with too few runs for one (4 + 4 suffice). */
	low: z.number().nonnegative().nullable(),
	high: z.number().nonnegative().nullable(),
	/** Exact confidence of the interval, 0.95 or a little more; texts call it the 95 % interval. */
	confidence: z.number().gt(0).lt(1).nullable(),
	/** Part by which B may be worse: 0.25. */
	margin: z.number().nonnegative(),
	/** "default", "the SLA", "twice this machine's noise (calibrate)", "doubled: a stored baseline" */
	marginFrom: z.string(),
	verdict: Compared,
	/** Worse by more than the margin is excluded, even where `verdict` leaves open whether it is better. */
	notWorse: z.boolean(),
	why: z.string(),
	...SaidFields,
	judged: z.boolean(),
	advisory: z.string().nullable(),
});
export type Comparison = z.infer<typeof Comparison>;

export const Machine = z.strictObject({
	/** Hash of the fields below except the boot; of `rig` only where all load came from a rig's machines. */
	fingerprint: z.string(),
	cpu: z.string().nullable(),
	cores: z.int().positive(),
	memoryGiB: z.int().nonnegative().nullable(),
	os: z.string(),
	kernel: z.string(),
	cpuQuotaCores: z.number().nullable(),
	/** "hosts a, b for brokers, c for the load"; the fields above then describe mqbench's own machine. */
	rig: z.string().optional(),
	/** C-states, SMT and the like, where readable. Not in the fingerprint because earlier baselines have none. */
	settings: z.record(z.string(), z.string()).optional(),
	/** Equal for runs on the very same machine since its start, or rental. Null if unknown, as for your own hosts. */
	boot: z.string().nullable(),
});
export type Machine = z.infer<typeof Machine>;

/** `baseline.json`, in every run folder: all that a comparison needs, and small enough to commit (a few kB). */
export const Baseline = z.strictObject({
	schema: z.literal(1),
	scenario: z.string(),
	runId: z.string(),
	startedAt: z.string().nullable(),
	mqbench: z.string().nullable(),
	machine: Machine.nullable(),
	quick: z.boolean(),
	/** Hash -> name of the fact -> words: the meaning of the hashes in `runs`, to show how two works differ. */
	works: z.record(z.string(), z.record(z.string(), z.string())),
	/** In words; not part of the work, because comparisons are between systems. */
	systems: z.record(z.string(), z.record(z.string(), z.string())),
	/** A search for the highest rate is one run with the figure "highest rate". Files of earlier versions also have a curve, which is left out. */
	runs: z.array(
		z.object({
			system: z.string(),
			case: z.string(),
			repeat: z.int().positive(),
			/** Hash of pattern, load, sizes, topology, warm-up, drain, durability asked for. Not of name, SLA, repeats, target, version. */
			work: z.string(),
			main: z.string().default("response"),
			closed: z.boolean().default(false),
			without: z.string().nullable().default(null),
			/** Figures whose true value is larger: messages never completed (the timeout is recorded instead), or the generator ended the search. */
			beyond: z.array(z.string()).default([]),
			weak: z.array(z.string()).default([]),
			/** Error bound of latencies from client to client, ns. Null with one clock. */
			clockBoundNs: z.number().nonnegative().nullable().default(null),
			verdict: z.string(),
			broker: z.string().nullable(),
			/** "response p99", "ack p50", "throughput", "drainTime", "highest rate"; ns or messages per second. */
			figures: z.record(z.string(), z.number().nonnegative().nullable()),
		}),
	),
});
export type Baseline = z.infer<typeof Baseline>;

/** `calibration.json`: how A/A runs of one machine differ (`mqbench calibrate`). */
export const Calibration = z.strictObject({
	schema: z.literal(1),
	scenario: z.string(),
	runId: z.string(),
	machine: Machine,
	noise: listOf({
		system: z.string(),
		case: z.string(),
		work: z.string(),
		metric: z.string(),
		runs: z.int().positive(),
		/** Half width of the ratio's interval between halves of the runs, as a part: 0.08. */
		halfWidth: z.number().nonnegative(),
		detectable: z.number().nonnegative(),
		/** Runs per side for `halfWidth` and `detectable`. */
		each: z.int().positive(),
	}),
});
export type Calibration = z.infer<typeof Calibration>;
