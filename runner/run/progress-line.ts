import { z } from "zod";

/** What the generator prints on k6's stdout while it runs, one JSON object a line (extensions/xk6-mqbench/generator/results.go). */
export const ProgressLine = z.discriminatedUnion("mqbench", [
	z.object({ mqbench: z.literal("start"), t0UnixNs: z.string() }),
	z.object({
		mqbench: z.literal("tick"),
		/** Seconds since T0. */
		at: z.number(),
		sent: z.int(),
		received: z.int(),
		inFlight: z.int(),
		/** So far, warm-up included. */
		failed: z.int(),
		duplicated: z.int(),
		/** Messages of the window above each of plan.limits so far. */
		over: z.array(z.int()),
		/** Response time of the last second, ns; null: nothing came back. */
		p50: z.int().nullable(),
		p99: z.int().nullable(),
		/** The result files cannot be written. */
		error: z.string().optional(),
	}),
	z.object({
		mqbench: z.literal("end"),
		state: z.enum(["complete", "interrupted"]),
	}),
]);
export type ProgressLine = z.infer<typeof ProgressLine>;

/** Reads a line of k6's stdout; null: it is not one of ours. */
export function readProgress(line: string): ProgressLine | null {
	if (!line.startsWith("{")) return null;
	try {
		const parsed = ProgressLine.safeParse(JSON.parse(line));
		return parsed.success ? parsed.data : null;
	} catch {
		return null;
	}
}
