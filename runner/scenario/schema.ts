import { z } from "zod";
import { type Broker, example, noBroker, systemSchema } from "../brokers/index.ts";
import { CpuSet, count, described, flag, parsed, span, text, word } from "../model/field.ts";
import { CATCH_UP } from "../model/load.ts";
import { AnyAction, type BaselineSla, type Sla, Target } from "../model/plan.ts";
import { SSH_PLACE, sshPlace } from "../model/ssh-host.ts";
import { type WorkloadField, workloadFields, workloadInput } from "../model/workload.ts";
import { tell } from "../text/tell.ts";
import { AwsFile } from "./aws.ts";
import { KubernetesFile } from "./kubernetes-schema.ts";
import { parseLine } from "./sla.ts";

/** The scenario language. Types, validation, `scenarios/scenario.schema.json` and the tables of `scenarios/reference.md` come from here. */

/** A workload (model/workload.ts) with every default that does not depend on another field. */
const WorkloadFile = z.strictObject(workloadInput);
export type WrittenWorkload = z.infer<typeof WorkloadFile>;

/** Cases and matrices have no defaults: missing fields come from the workload. */
export const overrides = Object.fromEntries(
	Object.entries(workloadInput).map(([field, schema]) => [field, written(schema)]),
) as { [F in WorkloadField]: Written<(typeof workloadInput)[F]> };
type Written<T> = T extends
	| z.ZodOptional<infer Inner>
	| z.ZodDefault<infer Inner>
	| z.ZodPrefault<infer Inner>
	? Inner
	: T;
export function written(schema: z.core.$ZodType): z.core.$ZodType {
	return schema instanceof z.ZodOptional ||
		schema instanceof z.ZodDefault ||
		schema instanceof z.ZodPrefault
		? schema.unwrap()
		: schema;
}

/** Cases may supply `message`. */
export const SharedWorkload = WorkloadFile.partial({ message: true });
export type SharedWorkload = Omit<WrittenWorkload, "message"> &
	Partial<Pick<WrittenWorkload, "message">>;

function systemFields(outside?: Readonly<Record<string, Broker>>) {
	const System = described(systemSchema(outside), "A broker's name, or a map with its settings.", [
		example.broker,
	]);
	return {
		system: described(
			System,
			"The system to measure. A scenario has either `system` or `systems`.",
			[example.broker],
		).optional(),
		systems: described(
			z.record(Name, System).optional(),
			"Systems to compare, each under its name in reports. They take turns.",
			[{ [example.broker]: example.broker, floor: noBroker }],
		),
	};
}

/** As Go has them, and without a way out. */
export const MODULE_PATH = /^(?!.*\.\.)[A-Za-z0-9][\w.~-]*(\/[\w.~-]+)*$/;
const MODULE_VERSION = /^v\d+\.\d+\.\d+([-+][\w.+-]+)?$/;

export const Extensions = z
	.array(
		z.union([
			z.strictObject({
				module: word(
					"Go module of the driver.",
					["github.com/me/xk6-mybroker"],
					[MODULE_PATH, tell("extension-module")],
				),
				version: word(
					"Its exact version.",
					["v1.2.3"],
					[MODULE_VERSION, tell("extension-version")],
				),
			}),
			z
				.strictObject({
					path: word("Folder of its Go module, from the scenario's folder.", ["../xk6-mybroker"]),
				})
				.meta({ examples: [{ path: "../xk6-mybroker" }] }),
		]),
	)
	.max(20)
	.meta({
		description:
			"Drivers from outside, each a Go module with a manifest, mqbench.json. They are code of others: a run asks, or takes `--allow-code`, and a file beside the scenario (.lock) pins them.",
		examples: [[{ path: "../xk6-mybroker" }]],
	});
export type NamedExtension = z.infer<typeof Extensions>[number];

const SlaText = described(
	z.string(),
	"`[metric] percentile op limit` or `counter op limit`. Default metric: response.",
	[
		"p99 < 20ms",
		"service p99.9 <= 5ms",
		"lost == 0",
		"unavailable < 10s",
		"p99 <= baseline + 10%",
		"p99 <= max(baseline*1.1, baseline+2ms)",
	],
).transform(parsed(parseLine));

const slaFields = {
	expect: SlaText,
	system: text("Only for this system (its key). Default: all."),
	abort: flag("Stop a run that can no longer meet this line. Not for comparisons.").default(false),
};

type Line = { expect: Sla | BaselineSla; abort: boolean } & {
	[_ in "system" | "case" | "load"]?: string;
};
const SlaLine = SlaText.transform((expect): Line => ({ expect, abort: false }));
const CaseSlaEntry = z.union([SlaLine, z.strictObject(slaFields)]);
const SlaEntry = z.union([
	SlaLine,
	z.strictObject({
		...slaFields,
		case: text("Only for this case; the first words of its name are enough. Default: all."),
		load: text("For this load of `background`. Default: the main load."),
	}),
]);

const { warmup: _warmup, find: _find, pattern, ...ofBackground } = workloadInput;
export const BackgroundLoad = z
	.strictObject({
		pattern: described(
			z.union([pattern, z.literal(CATCH_UP)]).default("round-trip"),
			"As in `workload`; also `catch-up`: sends nothing, and from `start` on reads the main load's topics from their beginning (logs only). Of the other fields it takes `consumerConnections`, `drain` and `sla`.",
			[CATCH_UP],
		),
		...ofBackground,
		start: span(
			"When it begins, in whole seconds from the start of the measured part. Default: with the main load's warm-up, which is then its own too.",
			["20s"],
			"from 0",
		).optional(),
		end: span(
			"When it ends, counted in the same way, instead of `duration`. Default: with the main load.",
			["40s"],
		).optional(),
		sla: described(
			z.array(CaseSlaEntry).default([]),
			"SLA lines of this load. The scenario's other lines are the main load's.",
			[["lost == 0"]],
		),
	})
	.partial({ message: true });

/** A background load that `churn` abbreviates (background.ts). */
const Churn = z.strictObject({
	connect: workloadInput.rate.unwrap().meta({ description: "Rate.", examples: ["50/s"] }),
	hold: workloadInput.hold,
});

const CaseOverrides = z
	.strictObject({
		name: z
			.string()
			.min(1)
			.max(80)
			.regex(/^[^\p{C}*?]+$/u, tell("case-name-form"))
			.meta({
				description: 'Unique name. Default: what the case overrides, such as "1KiB 3000/s".',
				examples: ["small, fast"],
			}),
		...overrides,
		sla: z.array(CaseSlaEntry).meta({
			description: "SLA lines of this case, in addition to the scenario's `sla`.",
			examples: [["p99 < 20ms"]],
		}),
	})
	.partial();

const values = (one: z.ZodType) => z.array(one).min(1).max(100);
const Matrix = z
	.strictObject(
		Object.fromEntries(workloadFields.map((field) => [field, values(overrides[field])])) as {
			[Field in WorkloadField]: z.ZodArray<(typeof overrides)[Field]>;
		},
	)
	.partial();

/** Names become parts of topics, folders and `--only`. */
export const Name = z
	.string()
	.max(80)
	.regex(
		// ".." would be an empty part of a NATS subject; Windows renames folders that end with a dot.
		/^(?!.*\.\.)[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9_-])?$/,
		tell("name-form"),
	);

const MOST_CLIENTS = 100;

const SHARE = [
	/^\s*(100|[1-9][0-9]?)\s*%\s*$/,
	"must be a share such as 50%, of 1% to 100%",
] as const;

const Clients = z.union([
	count(
		"k6 processes on this machine (`aws`: rented machines; `kubernetes`: pods).",
		MOST_CLIENTS,
		[3],
	).transform((count) => ({ kind: "number" as const, count })),
	described(
		z
			.array(z.string().regex(SSH_PLACE, tell("client-host")))
			.min(1)
			.max(MOST_CLIENTS)
			.superRefine((hosts, context) => {
				const same = hosts
					.map((name) => sshPlace(name.toLowerCase()))
					.map(({ host, port }) => `${host}:${port ?? 22}`);
				for (const [at, host] of hosts.entries())
					if (same.indexOf(same[at] ?? "") < at)
						context.addIssue({ code: "custom", path: [at], message: tell("host-twice", { host }) });
			}),
		"SSH hosts: `user@host` or `user@host:port`; an IPv6 address goes in brackets.",
	).transform((hosts) => ({ kind: "ssh" as const, hosts })),
	z
		.strictObject({ docker: count("Containers of mqbench's own image.", MOST_CLIENTS, [3]) })
		.transform(({ docker: count }) => ({ kind: "docker" as const, count })),
	z
		.strictObject({ kubernetes: count("Pods of a cluster.", MOST_CLIENTS, [3]) })
		.transform(({ kubernetes: count }) => ({ kind: "pods" as const, count })),
]);

export const ScenarioFile = z.strictObject({
	name: described(Name, "Name in reports. Default: the file's name without its extension.", [
		"quickstart",
	]).optional(),
	target: Target.default("local").meta({
		description:
			"Where brokers run. `local`: as processes on this machine; `existing`: your own, by `url`; `aws`: EC2 instances rented for this command. `--target` overrides it and ignores settings of other targets. `--rig` uses brokers that are already running.",
	}),
	clients: Clients.prefault(1).meta({
		description:
			"The load generators. A number: k6 processes on this machine (`aws`: rented machines; `kubernetes`: pods; a rig with client hosts: the first of them). A list: SSH hosts with one k6 process each. `{ docker: n }`: containers (`target: docker`). `{ kubernetes: n }`: pods, also with `target: existing`. All share one schedule: messages and their times do not depend on the number of clients. `--clients` overrides it.",
		examples: [3, ["bench@10.0.0.11", "bench@10.0.0.12"], { docker: 3 }, { kubernetes: 3 }],
	}),
	aws: described(AwsFile.optional(), "What `target: aws` rents. Other targets ignore it.", [
		{
			region: "eu-central-1",
			brokers: { instance: "i4i.xlarge" },
			clients: { instance: "c6in.xlarge" },
		},
	]),
	kubernetes: KubernetesFile.optional().meta({
		description:
			"How pods run, with `target: kubernetes` or `clients: { kubernetes: n }`. Otherwise ignored.",
		examples: [{ namespace: "bench", resources: { cpus: 2, memory: "2GiB" } }],
	}),
	extensions: Extensions.default([]),
	...systemFields(),
	workload: SharedWorkload.optional().meta({
		description: "What each run sends. Cases override single fields.",
	}),
	background: described(
		z.record(Name, BackgroundLoad).default({}),
		"Loads made at the same time against the same brokers, each under its name, with its own topics and results.",
		[{ bulk: { pattern: "work-queue", rate: "500/s", message: "64KiB" } }],
	),
	churn: Churn.optional().meta({
		description:
			"Connections that come and go beside the workload: a load `churn` of pattern `connect` in `background`.",
		examples: [{ connect: "50/s", hold: 1000 }],
	}),
	cases: described(
		z.array(CaseOverrides).min(1).optional(),
		"One run for each case: the workload with the case's fields replaced.",
		[[{ message: "256B" }, { message: "1KiB", rate: "2000/s" }]],
	),
	matrix: described(Matrix, "Lists of values for workload fields: one case for each combination.", [
		{ message: ["256B", "1KiB"], rate: ["1000/s", "10000/s"] },
	]).optional(),
	repeat: count("How many times all runs are made.", 1000, [3]).default(1),
	sla: described(
		z.array(SlaEntry).default([]),
		"What must hold, judged for each system and case. Decides the exit code.",
		[["p99 < 20ms", "lost == 0"]],
	),
	baseline: word(
		"What lines such as `p99 <= baseline + 10%` compare with: a system, a baseline.json or a run folder. `--baseline` overrides it.",
		["old", `baselines/${example.broker}.json`],
	).optional(),
	faults: described(
		z
			.array(
				z
					.strictObject({
						at: span("Start, counted from the end of the warm-up.", ["10s"], "from 0"),
						of: described(
							z.enum(["brokers", "consumers"]),
							"Brokers that mqbench starts, or members of the group (`work-queue`, `backlog`).",
						).default("brokers"),
						action: AnyAction.meta({
							description:
								"`pause`: freeze (SIGSTOP) and continue; `kill`: SIGKILL and start again; `restart`: shut down and start again; `partition`: cut off from the network; `latency`: add `delay` to each packet. The last two need `target: docker`. Consumers: `leave`: stop politely; `kill`: end without goodbye; `join`: add new ones; `pause`: take no messages.",
						}),
						count: described(
							z.union([
								count("How many consumers.", 10_000, [1]),
								word("Share of the consumers.", ["50%"], SHARE).transform((text) => ({
									share: Number.parseInt(text, 10) / 100,
								})),
							]),
							"Consumers that the fault meets: a number, or a share. Default: 1.",
							[1, "50%"],
						).optional(),
						for: span(
							"How long it lasts, the node stays down, or the consumers stay away. Default: `kill`, `leave`: to the end; `restart`: 0s.",
							["2s"],
						).optional(),
						node: described(
							z.union([count("Number of the node, from 1.", 3, [1]), z.literal("leader")]),
							"Number of a node, from 1, or `leader`: the one that leads the first topic at that moment. Default: all nodes.",
							[1, "leader"],
						).optional(),
						delay: span("`latency`: the delay of each packet that the node sends.", [
							"50ms",
						]).optional(),
					})
					.transform(({ at, of, action, count, for: forNs, node, delay }) => ({
						atNs: at,
						of,
						action,
						count: count ?? null,
						// Null if it is never undone.
						forNs: forNs ?? (action === "restart" ? 0 : null),
						node: node ?? null,
						delayNs: delay ?? null,
					})),
			)
			.max(20),
		"Faults of brokers that mqbench starts, or of consumers, in every run.",
		[
			[{ at: "10s", action: "pause", for: "500ms" }],
			[{ at: "10s", of: "consumers", action: "kill", count: "50%", for: "10s" }],
			[{ at: "10s", action: "kill", node: "leader", for: "2s" }],
		],
	).default([]),
	pin: described(
		z.strictObject({
			generator: described(CpuSet.optional(), "CPUs of the load generator.", ["0-1"]),
			brokers: described(CpuSet.optional(), "CPUs of brokers (`target: local`, `docker`, `aws`).", [
				"2-3",
			]),
		}),
		"CPUs as for taskset (Linux). The two sets may overlap.",
		[{ generator: "0-1", brokers: "2-3" }],
	).optional(),
	generator: z
		.strictObject({
			pacing: z.enum(["auto", "spin", "sleep"]).default("auto").meta({
				description:
					"How it waits until a message is due. `spin`: busy-wait on one core; `sleep`: up to 30us late, but leaves the core free; `auto`: spin if the machine has a core to spare.",
			}),
		})
		.optional()
		.meta({ description: "The load generator.", examples: [{ pacing: "spin" }] }),
	strict: flag("`true`: refuse a duration too short for the SLA's percentiles.").default(false),
});
export type ScenarioFile = z.infer<typeof ScenarioFile>;

/** With these brokers from outside, too. */
export function scenarioFile(outside: Readonly<Record<string, Broker>>): typeof ScenarioFile {
	return Object.keys(outside).length === 0
		? ScenarioFile
		: ScenarioFile.extend(systemFields(outside));
}
