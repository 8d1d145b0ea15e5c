import { z } from "zod";
import { parsed } from "../evidence/json.ts";
import { Metric } from "../model/plan.ts";

/** The window so far, ns: of the messages that are back. */
const WindowSoFar = z.object({ count: z.int(), p50: z.int(), p99: z.int(), max: z.int() });
export type WindowSoFar = z.infer<typeof WindowSoFar>;

const soFar = {
	/** What `window`, `p50` and `p99` are of: response, in a closed loop service, in a backlog ack. */
	metric: Metric,
	/** null: there is none yet. */
	window: WindowSoFar.nullable(),
};

/** A subscription of a client of a system without a server: what it is to, and where senders connect (extensions/xk6-mqbench/broker/abilities.go). */
const Endpoint = z.looseObject({ topic: z.string(), address: z.string() });
export type Endpoint = z.infer<typeof Endpoint>;

/** What the generator prints on k6's stdout while it runs, one JSON object a line (extensions/xk6-mqbench/generator/results.go). */
export const ProgressLine = z.discriminatedUnion("mqbench", [
	/** It is connected and subscribed, and waits for its T0: one of several clients, or one on another host. */
	z.object({
		mqbench: z.literal("ready"),
		/** Where its subscriptions are, if the system has no server. */
		endpoints: z.array(Endpoint).optional(),
	}),
	/** It is connected to the subscriptions of the others (`peers`), or says why not. */
	z.object({ mqbench: z.literal("met"), error: z.string().optional() }),
	/**
	 * One of several clients: all of its own messages are settled, its drain is over, or it was told to close. Its books are closed: nothing
	 * that reaches it from now on is counted. It waits for `finish`.
	 */
	z.object({ mqbench: z.literal("settled") }),
	z.object({
		mqbench: z.literal("start"),
		t0UnixNs: z.string(),
		/** First claim relative to T0, ns; negative is right. */
		firstClaimNs: z.int().optional(),
	}),
	/** Answer to a question for the leader of topics[0]: what the broker calls that node ("mqbench-2", "3"); null: it does not say. */
	z.object({
		mqbench: z.literal("leader"),
		id: z.int(),
		node: z.string().nullable(),
		error: z.string().optional(),
	}),
	z.object({
		mqbench: z.literal("tick"),
		/** Seconds since T0. */
		at: z.number(),
		sent: z.int(),
		received: z.int(),
		/** So far, warm-up included. */
		failed: z.int(),
		duplicated: z.int(),
		/** Messages of the window above each of plan.limits so far. */
		over: z.array(z.int()),
		/** null: the system acknowledges nothing. */
		acked: z.int().nullable(),
		/** Of the last second, ns; null: nothing came back. */
		p50: z.int().nullable(),
		p99: z.int().nullable(),
		...soFar,
		/** The result files cannot be written. */
		error: z.string().optional(),
		/**
		 * Of one of several clients whose messages cross: counts since the start, warm-up included, and whether all of its own messages
		 * have left or failed. The runner adds them up, and says when everything has arrived.
		 */
		crossing: z
			.object({
				sent: z.int(),
				acked: z.int().nullable(),
				failed: z.int(),
				unanswered: z.int(),
				/** Distinct receipts here. */
				received: z.int(),
				paced: z.boolean(),
			})
			.optional(),
	}),
	z.object({ mqbench: z.literal("end"), state: z.enum(["complete", "interrupted"]), ...soFar }),
]);
export type ProgressLine = z.infer<typeof ProgressLine>;

/** Of one client, or of several together (merge-progress.ts). */
export type Tick = Extract<ProgressLine, { mqbench: "tick" }> & OfSeveral;
export type End = Extract<ProgressLine, { mqbench: "end" }> & OfSeveral;

interface OfSeveral {
	/** Counts are of all these clients, percentiles and times each of the worst one. undefined: it is one client. */
	readonly merged?:
		| {
				readonly clients: number;
				/** Those that have not told of this second: their counts follow. */
				readonly silent: readonly number[];
				/** Messages in the window of the client that has fewest. */
				readonly fewest: number;
		  }
		| undefined;
}

/** When the window of a warm-up until steady opens, ns since T0. */
export interface Opens {
	readonly mqbench: "opens";
	readonly startNs: number;
}

/**
 * What the generator is told on k6's standard input, one JSON object a line (extensions/xk6-mqbench/control.go). T0 only where
 * MQBENCH_COORDINATED=1 says that it is handed out; then nothing else starts the run.
 */
export type ControlLine =
	/** T0 by the wall clock of that client's own machine. */
	| { readonly t0UnixNs: string }
	/** The subscriptions of all other clients, to connect to: once, before T0. */
	| { readonly peers: readonly Endpoint[] }
	| { readonly ask: "leader"; readonly id: number }
	/** The window of a warm-up until steady opens then, ns since T0: a whole second, told before. */
	| { readonly openNs: number }
	/**
	 * The drain is over, close the books: to several clients whose messages cross, when everything has arrived; to all, when the broker is
	 * gone. One of several stays, and answers `settled`.
	 */
	| { readonly close: true }
	/**
	 * Leave the broker, take away what was made there, and end: to several clients, when the books of all are closed. What a client that
	 * leaves had fetched and not acknowledged, the broker hands to the others.
	 */
	| { readonly finish: true };

/** Reads a line of k6's stdout; null: it is not one of ours. */
export function readProgress(line: string): ProgressLine | null {
	if (!line.startsWith("{")) return null;
	return ProgressLine.safeParse(parsed(line)).data ?? null;
}
