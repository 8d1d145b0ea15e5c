import { z } from "zod";

/**
 * `broker-metrics.jsonl`: the broker's own numbers, read once a second (run/broker-metrics.ts). The second line of type "series" declares
 * series 1. A sample has the values that changed since the last one of its node; null is no number, or no longer there.
 */
export const MetricsLine = z.discriminatedUnion("type", [
	/** Names of the series that charts show; `*` stands for any text. */
	z.strictObject({ type: z.literal("show"), names: z.array(z.string()) }),
	/** `name{label="value"}`, as the broker writes it. */
	z.strictObject({ type: z.literal("series"), name: z.string(), counter: z.boolean() }),
	z.strictObject({
		type: z.literal("sample"),
		/** From 1. */
		node: z.int().positive(),
		/** By the runner's clock, in the middle between question and answer. */
		unixMs: z.number(),
		values: z.array(z.tuple([z.int().nonnegative(), z.number().nullable()])),
	}),
]);
export type MetricsLine = z.infer<typeof MetricsLine>;

export interface Metric {
	/** NaN and infinite values are null. */
	readonly value: number | null;
	/** It only grows, so its growth is what counts. */
	readonly counter: boolean;
}
export type Metrics = ReadonlyMap<string, Metric>;

export interface MetricsReader {
	/** Returns what reads the answer, which may throw a sentence too. Fails with a sentence, or with the reason of `stop`. */
	read(stop: AbortSignal): Promise<() => Metrics>;
	close(): void;
}
