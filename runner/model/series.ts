import { z } from "zod";
import { TickLine } from "./client-file.ts";
import { Count, listOf, maybe } from "./field.ts";

const MaybeNumber = z.number().nonnegative().nullable();

const Used = maybe({
	cores: MaybeNumber,
	rssBytes: Count.nullable(),
	readBytesPerSecond: MaybeNumber,
	writeBytesPerSecond: MaybeNumber,
});

const Point = z.strictObject({
	at: z.number(),
	generator: Used,
	broker: Used,
	machine: z.strictObject({ busyCores: MaybeNumber, stealCores: MaybeNumber }),
	/** Over all network interfaces but the loopback. */
	network: maybe({ rxBytesPerSecond: MaybeNumber, txBytesPerSecond: MaybeNumber }),
});

/** A run on the time axis. Times are ns unless they are seconds. */
export const Series = z.strictObject({
	/** The main metric by second of intended time (closed loops: of the send call); 0 is the window's first, below 0 the warm-up. */
	seconds: listOf({
		second: z.int(),
		seconds: z.int().positive().optional(),
		count: Count,
		/** Samples owed by messages due in it that never came; null for closed loops and stopped runs. */
		missing: Count.nullable(),
		/** Over all messages due. Null with too few, or if it lies among messages that never completed. */
		p50: MaybeNumber,
		p99: MaybeNumber,
		/** Over completed messages. */
		max: MaybeNumber,
		lag: maybe({ p99: MaybeNumber, max: MaybeNumber }),
		queued: maybe({ p99: MaybeNumber, max: MaybeNumber }),
	}),
	heat: maybe({
		/** Lower bounds, ascending, of equal ratio; the last bin ends at `endNs`. */
		binsNs: z.array(z.number().nonnegative()),
		endNs: z.number().nonnegative(),
		width: z.int().positive(),
		/** First second of the column, bin, samples. */
		cells: z.array(z.tuple([z.int(), Count, z.int().positive()])),
	}),
	ticks: z.array(TickLine.omit({ type: true, outstanding: true })),
	resources: z.array(Point),
	/** Other machines that clients ran on. Long runs keep the maximum of each stretch: at most 1200 points in all. */
	hosts: listOf({ client: Count, name: z.string(), points: z.array(Point.omit({ broker: true })) }),
	/** Hosts that only the broker's nodes use. Absent if there are none, or none was sampled. */
	brokerHosts: listOf({
		node: Count,
		points: z.array(Point.omit({ broker: true, generator: true })),
	}).optional(),
	/** What each node of the broker counted itself. `at` is the end of a stretch, in seconds since T0. Absent if nothing was read. */
	brokerMetrics: listOf({
		node: Count,
		at: z.array(z.number()),
		series: listOf({
			/** `name{label="value"}` */
			name: z.string(),
			/** Its values are the growth per second; otherwise the largest of the stretch. */
			counter: z.boolean(),
			/** The scenario, or the broker's usual choice, shows it in the chart. */
			shown: z.boolean(),
			values: z.array(z.number().nullable()),
		}),
	}).optional(),
});
