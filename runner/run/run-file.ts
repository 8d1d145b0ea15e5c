import { z } from "zod";

/** `run.json` beside plan.json: how the run went as the runner saw it. Written when k6 has ended. */
export const RunFile = z.strictObject({
	schema: z.literal(1),
	startedAt: z.iso.datetime(),
	endedAt: z.iso.datetime(),
	/** k6's exit code; null when a signal ended it. */
	k6Exit: z.int().nullable(),
	k6Signal: z.string().nullable(),
	/** Name of the signal with which the user stopped mqbench, else null. */
	interruptedBy: z.string().nullable(),
	/** The SLA line that could not pass any more, when mqbench stopped the run for it ("p99 < 20ms"), else null. */
	abortedBy: z.string().nullable().default(null),
	/** Why the run could not be made or finished: an "error" verdict. null: nothing of that kind. */
	error: z.string().nullable(),
	/** Facts that a reader of the report has to know: "the broker ended with SIGKILL 4.2 s after T0". */
	notes: z.array(z.string()),
	/** Password-free URL of the broker, and what the rig says of it. */
	brokerUrl: z.string(),
	brokerVersion: z.string(),
	brokerBinary: z.string().nullable(),
	/** The broker's settings that durability and `config` came to, with their real names; empty: not ours to know. */
	brokerSettings: z.record(z.string(), z.string()).default({}),
	sameHost: z.boolean(),
});
export type RunFile = z.infer<typeof RunFile>;
/** As it is written. */
export type RunFileInput = z.input<typeof RunFile>;
