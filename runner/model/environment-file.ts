import { z } from "zod";
import { HostSettings, MachineSettings } from "./machine-settings.ts";

/** The commit of the repository that the scenario lies in; where no git says it, the one that a job of GitHub or GitLab is for. */
export const GitCommit = z.strictObject({
	/** In full. */
	commit: z.string().regex(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/),
	/** Files differ from it, or the scenario itself is not in it; null: nobody could look. */
	dirty: z.boolean().nullable(),
});
export type GitCommit = z.infer<typeof GitCommit>;

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
	/** Hash that stands for this start of the machine; null: not known, as in the published reports, which have no such field. */
	bootId: z.string().nullable().default(null),
	/** As it was when the command began. Absent: the scenario lies in no repository, or an mqbench that did not look. */
	git: GitCommit.optional(),
	/** Of the machine that mqbench runs on. Absent, as all of these in the published reports: nobody has looked. */
	settings: MachineSettings.optional(),
	/** Of hosts, as they were when their first run began; absent: there are none, or none has been reached. */
	hosts: z.array(HostSettings).optional(),
	/** Other machines than the one that mqbench runs on, which is described above: hosts of brokers and load, yours or rented. None: no such machines. */
	rig: z
		.strictObject({
			/** Of rig.json; null: it has not been rented yet. */
			id: z.string().nullable(),
			/** When it was stood up; null: its file does not say. */
			createdAt: z.iso.datetime().nullable(),
			/** Whose machines are rented: "aws eu-central-1"; null: they are yours. */
			cloud: z.string().nullable(),
			/** "3 i4i.xlarge for brokers, 2 c6in.xlarge for the load (aws eu-central-1)"; of yours "hosts a, b for brokers, c for the load". */
			machines: z.string(),
			/** Names of their hosts as ssh takes them, a port behind them where there is one. Empty: not known yet, or none of them. */
			brokers: z.array(z.string()),
			clients: z.array(z.string()),
			/** The load comes from the machine that mqbench runs on: it counts as well. */
			here: z.boolean(),
			/** What its file says of them in words: zone, image, placement group. */
			facts: z.record(z.string(), z.string()),
		})
		.optional(),
	/** Commands that went on with these runs (--resume), in order; absent: none. Versions, and the start of the machine, are those of each. */
	resumed: z
		.array(
			z.strictObject({
				startedAt: z.iso.datetime(),
				node: z.string(),
				go: z.string().nullable(),
				bootId: z.string().nullable(),
				git: GitCommit.optional(),
			}),
		)
		.optional(),
	node: z.string(),
	k6: z.string(),
	go: z.string().nullable(),
	/** Where k6 and what comes with it are from: "package @mqbench/linux-x64 0.2.0"; absent: an older mqbench did not say. */
	programs: z.string().optional(),
	/** Broker and client library by system, filled in after the first run of each. */
	systems: z.record(z.string(), z.strictObject({ broker: z.string(), library: z.string() })),
});
export type EnvironmentFile = z.infer<typeof EnvironmentFile>;
export type RigMachines = NonNullable<EnvironmentFile["rig"]>;
