import { z } from "zod";

/** `environment.json`: the machine and the versions that the numbers belong to. Unreadable facts are null. */
export const EnvironmentFile = z.strictObject({
	schema: z.literal(1),
	mqbench: z.string(),
	startedAt: z.iso.datetime(),
	os: z.string(),
	kernel: z.string(),
	cpu: z.string().nullable(),
	cores: z.int().positive(),
	memoryBytes: z.int().nullable(),
	clockSource: z.string().nullable(),
	governor: z.string().nullable(),
	cpuQuotaCores: z.number().nullable(),
	/** Hash that stands for this start of the machine; null: not known. */
	bootId: z.string().nullable().default(null),
	/** Machines that brokers and load had, where they were rented: which rig's, and "3 i4i.xlarge, 2 c6in.xlarge (aws eu-central-1)". */
	rented: z
		.strictObject({
			rig: z.string().nullable(),
			machines: z.string(),
			/** What their rig.json says of them: zone, image, placement group. */
			facts: z.record(z.string(), z.string()).optional(),
		})
		.optional(),
	node: z.string(),
	k6: z.string(),
	go: z.string().nullable(),
	/** Broker and client library by system, filled in after the first run of each. */
	systems: z.record(
		z.string(),
		z.strictObject({ broker: z.string(), library: z.string() }),
	),
});
export type EnvironmentFile = z.infer<typeof EnvironmentFile>;
