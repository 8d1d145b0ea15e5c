import { z } from "zod";
import { SaidFields } from "./said.ts";

/**
 * Two sets of runs of the same work, A the baseline and B the candidate: the median of all ratios B/A (Hodges-Lehmann) with the exact interval of
 * ranks (reports/README.md, "Comparing two sets of runs").
 */
const Compared = z.enum(["regressed", "improved", "same", "inconclusive"]);

const Side = z.strictObject({
	/** Run id, file or system, for people: "baseline.json of 2026-11-20", "system old". */
	name: z.string(),
	/** Runs that count: a run that is invalid, interrupted or an error has no figure. */
	runs: z.int().nonnegative(),
	/** Their values, in the order of the runs: ns, or messages per second. */
	values: z.array(z.number().nonnegative()),
	median: z.number().nonnegative().nullable(),
	/** Of a percentile: the support of one of these values is weak. */
	weak: z.boolean().default(false),
});

export const Comparison = z.strictObject({
	/** Of B; A's may have another name when two systems of one run are compared. */
	system: z.string(),
	case: z.string(),
	/** "response p99", "throughput": what is compared. */
	metric: z.string(),
	unit: z.enum(["ns", "messages/s"]),
	a: Side,
	b: Side,
	/** B/A; null: one side has no value. 1.1: B's latency is 10 % higher. */
	ratio: z.number().nonnegative().nullable(),
	/** Exact interval of the ratio; null: too few runs for one (4 + 4 have one). */
	low: z.number().nonnegative().nullable(),
	high: z.number().nonnegative().nullable(),
	/** What the interval is worth exactly: 0.95 or a little more, e.g. 0.968. Texts call it the 95 % interval. null without one. */
	confidence: z.number().gt(0).lt(1).nullable(),
	/** Part by which B may be worse: 0.25. */
	margin: z.number().nonnegative(),
	/** Where the margin comes from: "default", "the SLA", "twice this machine's noise (calibrate)", "doubled: a stored baseline". */
	marginFrom: z.string(),
	verdict: Compared,
	/** True: worse by more than the margin is excluded, even where `verdict` leaves open whether it is better. */
	notWorse: z.boolean(),
	/** One sentence. */
	why: z.string(),
	...SaidFields,
	/** True: it decides (a gate, the exit code). False: shown only. */
	judged: z.boolean(),
	/** Why it must not decide: another machine; null: it may. */
	advisory: z.string().nullable(),
});
export type Comparison = z.infer<typeof Comparison>;

/** Which machine a run was made on, as far as it decides latencies. */
export const Machine = z.strictObject({
	/** Hash of what follows but the boot; where all load came from machines of a rig, of `rig` alone, wherever mqbench itself ran. */
	fingerprint: z.string(),
	cpu: z.string().nullable(),
	cores: z.int().positive(),
	memoryGiB: z.int().nonnegative().nullable(),
	os: z.string(),
	kernel: z.string(),
	cpuQuotaCores: z.number().nullable(),
	/** Other machines, of brokers and load: "hosts a, b for brokers, c for the load"; what is above is then mqbench's own. */
	rig: z.string().optional(),
	/** C-states, SMT and the like, of machines that made load or ran brokers; what nobody could read is missing. Not part of the fingerprint, as earlier baselines have none. */
	settings: z.record(z.string(), z.string()).optional(),
	/** Of this start of the machine, or of rented ones: two runs with the same one were made on the very same machine. null: not known, as of hosts of yours. */
	boot: z.string().nullable(),
});
export type Machine = z.infer<typeof Machine>;

/** `baseline.json`, in every run folder: small enough to be committed (a few kB), and all that a comparison needs. */
export const Baseline = z.strictObject({
	schema: z.literal(1),
	scenario: z.string(),
	runId: z.string(),
	startedAt: z.string().nullable(),
	mqbench: z.string().nullable(),
	machine: Machine.nullable(),
	/** Shortened by `--quick`: no result, and nothing to judge others by. */
	quick: z.boolean(),
	/** What the hashes in `runs` are of, in words: by hash, by name of the fact. Tells what differs between two works. */
	works: z.record(z.string(), z.record(z.string(), z.string())),
	/** Settings and versions of each system, in words: no part of the work, they are what is compared. */
	systems: z.record(z.string(), z.record(z.string(), z.string())),
	/** Defaults are for the published baselines. A search for the highest rate is one run here, with the figure "highest rate". */
	runs: z.array(
		z.strictObject({
			system: z.string(),
			case: z.string(),
			repeat: z.int().positive(),
			/** Hash of the work: pattern, load, sizes, topology, warm-up, drain, durability asked for. Not of name, SLA, repeats, target, version. */
			work: z.string(),
			/** The metric that stands for the run. */
			main: z.string().default("response"),
			/** A closed loop: its throughput is a result. Else it is what was asked for. */
			closed: z.boolean().default(false),
			/** Why it has no figures: "invalid", "stopped as p99 < 5ms could not pass any more"; null: it has. */
			without: z.string().nullable().default(null),
			/** Figures whose true value is larger than written: among messages that never completed (the timeout is written), or a search that the generator ended. */
			beyond: z.array(z.string()).default([]),
			/** Percentiles whose support is weak. */
			weak: z.array(z.string()).default([]),
			/** Its latencies from client to client are exact to this much, ns; null: one clock has timed them. */
			clockBoundNs: z.number().nonnegative().nullable().default(null),
			verdict: z.string(),
			/** "nats-server 2.15.2" */
			broker: z.string().nullable(),
			/** By name ("response p99", "ack p50", "throughput", "drainTime", "highest rate"); ns or messages per second; null: no value. */
			figures: z.record(z.string(), z.number().nonnegative().nullable()),
			/** The main metric's curve in at most 40 points, for overlays: percentile, ns. */
			curve: z.array(z.tuple([z.number().min(0).lt(100), z.number().nonnegative()])),
		}),
	),
});
export type Baseline = z.infer<typeof Baseline>;

/** `calibration.json`: what A/A runs of one machine differ by (`mqbench calibrate`). */
export const Calibration = z.strictObject({
	schema: z.literal(1),
	scenario: z.string(),
	runId: z.string(),
	machine: Machine,
	/** By work and metric. */
	noise: z.array(
		z.strictObject({
			system: z.string(),
			case: z.string(),
			work: z.string(),
			metric: z.string(),
			/** A/A runs in all. */
			runs: z.int().positive(),
			/** Half width of the ratio's interval between halves of them, as a part: 0.08. */
			halfWidth: z.number().nonnegative(),
			/** The smallest change that so many runs on each side can tell from noise, as a part. */
			detectable: z.number().nonnegative(),
			/** Runs on each side that `halfWidth` and `detectable` are for. */
			each: z.int().positive(),
		}),
	),
});
export type Calibration = z.infer<typeof Calibration>;
