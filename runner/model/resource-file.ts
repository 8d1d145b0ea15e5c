import { z } from "zod";

/**
 * `resources.jsonl`: what the processes of a run used, a JSON object a second, sampled by the runner from /proc;
 * `resources-<client>.jsonl`: the same of a client on another host, sampled there by agent (extensions/cmd/agent/sample.go). What
 * cannot be read is null. Counters are since the start of the process group or machine; readers take differences.
 */
const Count = z.int().nonnegative();

/** A process and all of its children. */
const Usage = z.strictObject({
	cpuNs: Count.nullable(),
	/** How long its threads, ready to run, waited for a core; absent in older files. Threads that end take theirs along. */
	waitNs: Count.nullable().default(null),
	rssBytes: Count.nullable(),
	/** Bytes that it caused to be read from and written to storage. */
	readBytes: Count.nullable(),
	writeBytes: Count.nullable(),
});

export type Usage = z.infer<typeof Usage>;

/** What is used, field by field. */
export function usageOf(of: (field: keyof Usage) => number | null): Usage {
	const fields = Usage.keyof().options;
	return Object.fromEntries(fields.map((field) => [field, of(field)])) as Usage;
}

export const ResourceLine = z.strictObject({
	/** Wall clock of the sample, Unix ms, by the clock of the runner: that of another host is put right before. */
	unixMs: z.number(),
	generator: Usage.nullable(),
	broker: Usage.nullable(),
	machine: z.strictObject({
		/** CPU time of all cores: in all, idle, taken by the hypervisor. */
		cpuNs: Count.nullable(),
		idleNs: Count.nullable(),
		stealNs: Count.nullable(),
		/** Periods in which the control group of mqbench was throttled. */
		throttled: Count.nullable(),
	}),
	/** Bytes over the machine's network devices, or all but the loopback where there are only virtual ones, since its start; the published reports have none. */
	network: z.strictObject({ rxBytes: Count, txBytes: Count }).nullable().default(null),
});
export type ResourceLine = z.infer<typeof ResourceLine>;
