import { z } from "zod";
import { listOf } from "./field.ts";
import { HostSettings, MachineSettings } from "./machine-settings.ts";

/** Commit of the scenario's repository; without git, the one that a GitHub or GitLab job is for. */
export const GitCommit = z.strictObject({
	commit: z.string().regex(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/),
	dirty: z.boolean().nullable(),
});
export type GitCommit = z.infer<typeof GitCommit>;

/** `environment.json`: the machine and the versions that the numbers belong to. Null values could not be read. */
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
	bootId: z.string().nullable().default(null),
	/** As the command began. Absent without a repository, and in older files. */
	git: GitCommit.optional(),
	/** Of mqbench's own machine. Absent, like all fields below, in the published reports. */
	settings: MachineSettings.optional(),
	hosts: z.array(HostSettings).optional(),
	rig: z
		.strictObject({
			id: z.string().nullable(),
			createdAt: z.iso.datetime().nullable(),
			cloud: z.string().nullable(),
			/** "3 i4i.xlarge for brokers, 2 c6in.xlarge for the load (aws eu-central-1)"; yours: "hosts a, b for brokers, c for the load". */
			machines: z.string(),
			brokers: z.array(z.string()),
			clients: z.array(z.string()),
			here: z.boolean(),
			facts: z.record(z.string(), z.string()),
		})
		.optional(),
	/** Commands that resumed these runs (--resume), in order, each with its versions and start of the machine. */
	resumed: listOf({
		startedAt: z.iso.datetime(),
		node: z.string(),
		go: z.string().nullable(),
		bootId: z.string().nullable(),
		git: GitCommit.optional(),
	}).optional(),
	node: z.string(),
	k6: z.string(),
	go: z.string().nullable(),
	programs: z.string().optional(),
	systems: z.record(z.string(), z.strictObject({ broker: z.string(), library: z.string() })),
});
export type EnvironmentFile = z.infer<typeof EnvironmentFile>;
export type RigMachines = NonNullable<EnvironmentFile["rig"]>;
