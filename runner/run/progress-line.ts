import { z } from "zod";
import { parsed } from "../evidence/json.ts";
import { Metric } from "../model/plan.ts";

/** The window so far: messages that have come back, times in ns. */
const WindowSoFar = z.object({ count: z.int(), p50: z.int(), p99: z.int(), max: z.int() });
export type WindowSoFar = z.infer<typeof WindowSoFar>;

const soFar = {
	/** The metric of `window`, `p50` and `p99`: response, in a closed loop service, in a backlog ack. */
	metric: Metric,
	window: WindowSoFar.nullable(),
};

/** A client's subscription in a system without a server, and where senders connect (extensions/xk6-mqbench/broker/abilities.go). */
const Endpoint = z.looseObject({ topic: z.string(), address: z.string() });
export type Endpoint = z.infer<typeof Endpoint>;

/** The generator's lines on k6's stdout, one JSON object a line (extensions/xk6-mqbench/generator/results.go). */
export const ProgressLine = z.discriminatedUnion("mqbench", [
	/** One of several clients, or a client on another host, is connected and subscribed, and waits for T0. */
	z.object({ mqbench: z.literal("ready"), endpoints: z.array(Endpoint).optional() }),
	/** It is connected to the others' subscriptions (`peers`), or failed to connect (`error`). */
	z.object({ mqbench: z.literal("met"), error: z.string().optional() }),
	/** One of several clients has closed its books: nothing that arrives later is counted. It waits for `finish`. */
	z.object({ mqbench: z.literal("settled") }),
	z.object({
		mqbench: z.literal("start"),
		t0UnixNs: z.string(),
		/** First claim relative to T0, ns; negative is right. */
		firstClaimNs: z.int().optional(),
	}),
	/** The broker's name ("mqbench-2", "3") for the node that leads topics[0], or null if it does not report one. */
	z.object({
		mqbench: z.literal("leader"),
		id: z.int(),
		node: z.string().nullable(),
		error: z.string().optional(),
	}),
	z.object({
		mqbench: z.literal("tick"),
		at: z.number(),
		sent: z.int(),
		received: z.int(),
		/** Since the start, warm-up included; so are `duplicated`. */
		failed: z.int(),
		duplicated: z.int(),
		/** Messages of the window so far above each of plan.limits. */
		over: z.array(z.int()),
		/** Null if the system acknowledges nothing. */
		acked: z.int().nullable(),
		/** In the last second, ns. Null, like p99, if nothing came back. */
		p50: z.int().nullable(),
		p99: z.int().nullable(),
		...soFar,
		/** Why the result files cannot be written. */
		error: z.string().optional(),
		/** From a client whose messages cross to others: counts since the start, warm-up included. The runner adds them up (arrival.ts). */
		crossing: z
			.object({
				sent: z.int(),
				acked: z.int().nullable(),
				failed: z.int(),
				unanswered: z.int(),
				/** Distinct receipts by this client. */
				received: z.int(),
				/** Have all of its own messages left or failed? */
				paced: z.boolean(),
			})
			.optional(),
	}),
	z.object({ mqbench: z.literal("end"), state: z.enum(["complete", "interrupted"]), ...soFar }),
]);
export type ProgressLine = z.infer<typeof ProgressLine>;
export type End = Extract<ProgressLine, { mqbench: "end" }>;
/** From one client, or from several (merge-progress.ts). */
export interface Tick extends Extract<ProgressLine, { mqbench: "tick" }> {
	/** Present if several clients are merged: counts are sums, percentiles and times are the worst client's. */
	readonly merged?: {
		readonly clients: number;
		/** Clients that have not reported this second: their counts follow. */
		readonly silent: readonly number[];
		/** Messages in the window of the client that has the fewest. */
		readonly fewest: number;
	};
}

/** The window of a warm-up until steady opens, ns since T0. */
export interface Opens {
	readonly mqbench: "opens";
	readonly startNs: number;
}

/** A JSON line on k6's stdin (extensions/xk6-mqbench/control.go). With MQBENCH_COORDINATED=1, only T0 from here starts the run. */
export type ControlLine =
	/** T0 by that client's own wall clock. */
	| { readonly t0UnixNs: string }
	/** The subscriptions of all other clients to connect to, once, before T0. */
	| { readonly peers: readonly Endpoint[] }
	| { readonly ask: "leader"; readonly id: number }
	/** When the window of a warm-up until steady opens, ns since T0: a whole second, sent in advance. */
	| { readonly openNs: number }
	/** Close the books, because everything has arrived or the broker is gone. One of several clients stays and answers `settled`. */
	| { readonly close: true }
	/** Clean up on the broker, and end. Sent when all books are closed: a leaving client's unacked messages go to others. */
	| { readonly finish: true };

/** Reads a line of k6's stdout, or returns null if it is not ours. */
export function readProgress(line: string): ProgressLine | null {
	if (!line.startsWith("{")) return null;
	return ProgressLine.safeParse(parsed(line)).data ?? null;
}
