import { z } from "zod";

const Count = z.int().nonnegative();

/** Messages have the sizes of a cycle in turn: message i has number i mod its length (plan/sizes.ts, xk6-mqbench/sizes: change both). */
export const Sizes = z.strictObject({
	/** For people and names: "80% 256B, 20% 4KiB". */
	text: z.string(),
	/** A size, and how many of it the cycle has. */
	runs: z.array(z.tuple([z.int().positive(), Count])).min(1),
	/** By the message's seed. If false, the order of `runs`. */
	shuffled: z.boolean(),
	/** The largest sizes of the classes that results tell apart, ascending. */
	classes: z.array(z.int().positive()).min(1),
	meanBytes: z.int().positive(),
	/** Sizes of the cycle that a distribution had below the least possible one and above its `max`, and which are those instead. */
	clamped: z.strictObject({ below: Count, above: Count }),
});
export type Sizes = z.infer<typeof Sizes>;
