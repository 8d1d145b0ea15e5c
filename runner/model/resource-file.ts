import { z } from "zod";

/**
 * `resources.jsonl` has a JSON object a second, sampled from /proc by agent (extensions/cmd/agent/sample.go). `resources-<client>.jsonl` is
 * the same from a client's host. Null is unreadable. Counters are since the start of the process group or machine.
 */
const Count = z.int().nonnegative();

/** Includes all child processes. */
const Usage = z.strictObject({
	cpuNs: Count.nullable(),
	/** How long runnable threads waited for a core; absent in older files. Subtle: threads that end take theirs along. */
	waitNs: Count.nullable().default(null),
	rssBytes: Count.nullable(),
	readBytes: Count.nullable(),
	writeBytes: Count.nullable(),
});

export type Usage = z.infer<typeof Usage>;

export function usageOf(of: (field: keyof Usage) => number | null): Usage {
	return Object.fromEntries(Usage.keyof().options.map((field) => [field, of(field)])) as Usage;
}

export const ResourceLine = z.strictObject({
	/** Unix ms by the runner's clock; another host's samples are corrected first. */
	unixMs: z.number(),
	generator: Usage.nullable(),
	broker: Usage.nullable(),
	machine: z.strictObject({
		/** Over all cores: in all, idle, taken by the hypervisor. */
		cpuNs: Count.nullable(),
		idleNs: Count.nullable(),
		stealNs: Count.nullable(),
		throttled: Count.nullable(),
	}),
	/** Bytes over the machine's network devices (only virtual ones: all but the loopback), since its start; absent in published reports. */
	network: z.strictObject({ rxBytes: Count, txBytes: Count }).nullable().default(null),
});
export type ResourceLine = z.infer<typeof ResourceLine>;
