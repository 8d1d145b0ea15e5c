import { z } from "zod";
import { BrokerName, example, noBroker, SystemOptions } from "../brokers/index.ts";
import { CpuSet, count, parsed, span, word } from "../model/field.ts";
import { type BaselineSla, FaultAction, type Sla, Target } from "../model/plan.ts";
import { SSH_PLACE, sshPlace } from "../model/ssh-host.ts";
import { type WorkloadField, workloadFields, workloadInput } from "../model/workload.ts";
import { tell } from "../text/tell.ts";
import { AwsFile } from "./aws.ts";
import { KubernetesFile } from "./kubernetes-schema.ts";
import { parseLine } from "./sla.ts";

/** The scenario language. Types, validation, `scenarios/scenario.schema.json` and the tables of `scenarios/README.md` come from here. */

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
function written(schema: z.ZodType): unknown {
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

export const System = z
	.union([BrokerName.transform((broker) => SystemOptions.parse({ broker })), SystemOptions])
	.meta({
		description: "A broker's name, or a map with its settings.",
		examples: [example.broker],
	});

const SlaText = z
	.string()
	.meta({
		description:
			"[metric] percentile op limit; the metric is response. The limit may be a baseline's figure and a margin.",
		examples: [
			"p99 < 20ms",
			"service p99.9 <= 5ms",
			"lost == 0",
			"unavailable < 10s",
			"p99 <= baseline + 10%",
			"p99 <= max(baseline*1.1, baseline+2ms)",
		],
	})
	.transform(parsed(parseLine));

const slaFields = {
	expect: SlaText,
	system: z
		.string()
		.optional()
		.meta({ description: "Key of the one system it is for. Default: all." }),
	abort: z.boolean().default(false).meta({
		description:
			"A run that cannot meet it any more is stopped. Not for a line that compares with a baseline.",
	}),
};

type Line = { expect: Sla | BaselineSla; abort: boolean; system?: string; case?: string };
const SlaLine = SlaText.transform((expect): Line => ({ expect, abort: false }));
const CaseSlaEntry = z.union([SlaLine, z.strictObject(slaFields)]);
const SlaEntry = z.union([
	SlaLine,
	z.strictObject({
		...slaFields,
		case: z.string().optional().meta({
			description: "Name of the one case it is for, or the words it begins with. Default: all.",
		}),
	}),
]);

const CaseOverrides = z
	.strictObject({
		name: z
			.string()
			.min(1)
			.max(80)
			.regex(/^[^\p{C}*?]+$/u, tell("case-name-form"))
			.meta({
				description: 'Unique name. Default: what the case overrides, "1KiB 3000/s".',
				examples: ["small, fast"],
			}),
		...overrides,
		sla: z.array(CaseSlaEntry).meta({
			description:
				"What must hold in this case, besides the sla of the scenario. A line for one system: `{ expect, system }`.",
			examples: [["p99 < 20ms"]],
		}),
	})
	.partial();

const Matrix = z
	.strictObject(
		Object.fromEntries(
			workloadFields.map((field) => [
				field,
				z
					.array(overrides[field] as z.ZodType)
					.min(1)
					.max(100),
			]),
		) as { [Field in WorkloadField]: z.ZodArray<(typeof overrides)[Field]> },
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

const Clients = z.union([
	count(
		"k6 processes on this machine; `target: aws`: rented machines; `target: kubernetes`: pods.",
		MOST_CLIENTS,
		[3],
	).transform((count) => ({ kind: "number" as const, count })),
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
		})
		.meta({
			description:
				"Hosts, as ssh takes them: user@host, or user@host:port; an IPv6 address in brackets.",
		})
		.transform((hosts) => ({ kind: "ssh" as const, hosts })),
	z
		.strictObject({ docker: count("Containers of mqbench's own image.", MOST_CLIENTS, [3]) })
		.transform(({ docker: count }) => ({ kind: "docker" as const, count })),
	z
		.strictObject({ kubernetes: count("Pods of a cluster.", MOST_CLIENTS, [3]) })
		.transform(({ kubernetes: count }) => ({ kind: "pods" as const, count })),
]);

export const ScenarioFile = z.strictObject({
	name: Name.optional().meta({
		description: "Default: the file's name without its extension.",
		examples: ["quickstart"],
	}),
	target: Target.default("local").meta({
		description:
			"Where the brokers run. `local`: mqbench starts them on this machine; `docker`: in containers of this machine's Docker engine; `existing`: they are yours, each system has a url; `aws`: on machines of EC2, rented for this command (`aws`); `kubernetes`: in pods of a cluster (`kubernetes`). `--target` overrides, and then leaves aside what only other targets have; `--rig` takes brokers that stay up.",
	}),
	clients: Clients.prefault(1).meta({
		description:
			"What makes the load. A number: so many k6 processes on this machine, with `target: aws` so many rented machines, with `target: kubernetes` so many pods, on a rig that has clients the first so many of its hosts; a list: one k6 process on each host, over SSH; `{ docker: n }`: so many containers of mqbench's own image (`target: docker`); `{ kubernetes: n }`: so many pods of a cluster (`kubernetes`), also with `target: existing`. Together they send one schedule: any number of clients gives the same messages at the same times. Each has at least one connection. `--clients` overrides. Default: 1.",
		examples: [3, ["bench@10.0.0.11", "bench@10.0.0.12"], { docker: 3 }, { kubernetes: 3 }],
	}),
	aws: AwsFile.optional().meta({
		description:
			"What `target: aws` rents: one zone, one machine for each node of the largest system, one for each client. Other targets leave it aside.",
		examples: [
			{
				region: "eu-central-1",
				brokers: { instance: "i4i.xlarge" },
				clients: { instance: "c6in.xlarge" },
			},
		],
	}),
	kubernetes: KubernetesFile.optional().meta({
		description:
			"Where and as what pods run, with `target: kubernetes` and `clients: { kubernetes: n }`. Others leave it aside.",
		examples: [{ namespace: "bench", resources: { cpus: 2, memory: "2GiB" } }],
	}),
	system: System.optional().meta({
		description: "The one system to measure; a scenario has either this or systems.",
		examples: [example.broker],
	}),
	systems: z
		.record(Name, System)
		.optional()
		.meta({
			description:
				"Systems to compare, by the name that reports give them; they take turns, so that drift of the machine hits all alike.",
			examples: [{ [example.broker]: example.broker, floor: noBroker }],
		}),
	workload: SharedWorkload.optional().meta({
		description: "What each run does; cases override single fields.",
	}),
	cases: z
		.array(CaseOverrides)
		.min(1)
		.optional()
		.meta({
			description: "One run each: the workload with these fields replaced.",
			examples: [[{ message: "256B" }, { message: "1KiB", rate: "2000/s" }]],
		}),
	matrix: Matrix.optional().meta({
		description: "Lists of values of fields of the workload: one case for each combination.",
		examples: [{ message: ["256B", "1KiB"], rate: ["1000/s", "10000/s"] }],
	}),
	repeat: count("How often the whole list of runs is made.", 1000, [3]).default(1),
	sla: z
		.array(SlaEntry)
		.default([])
		.meta({
			description: "What must hold, judged per system and case. Decides the exit code.",
			examples: [["p99 < 20ms", "lost == 0"]],
		}),
	baseline: word(
		"What `p99 <= baseline + 10%` compares with: a system of this scenario, or a baseline.json or run folder. `--baseline` overrides.",
		["old", `baselines/${example.broker}.json`],
	).optional(),
	faults: z
		.array(
			z
				.strictObject({
					at: span("When it begins, after the end of the warm-up.", ["10s"]),
					action: FaultAction.meta({
						description:
							"`pause`: its processes are frozen (SIGSTOP), and go on afterwards; `kill`: they get SIGKILL, and start again afterwards; `restart`: they are asked to end, and start again; `partition`: the node is cut off from its network; `latency`: its network takes longer by `delay`. The last two are for `target: docker` alone.",
					}),
					for: span(
						"How long it lasts. Of `kill`: until the node is started again; default: never. Of `restart`: how long it stays down; default: it starts at once.",
						["2s"],
						"above 0",
					).optional(),
					node: z
						.union([count("Number of the node, from 1.", 3, [1]), z.literal("leader")])
						.optional()
						.meta({
							description:
								"Number of the node, from 1, of a broker with several; `leader`: the one that leads the first topic at that moment. Default: all.",
							examples: [1, "leader"],
						}),
					delay: span(
						"`latency`: how much later each packet of the node leaves.",
						["50ms"],
						"above 0",
					).optional(),
				})
				.transform(({ at, action, for: forNs, node, delay }) => ({
					atNs: at,
					action,
					// Null if it is never undone.
					forNs: forNs ?? (action === "restart" ? 0 : null),
					node: node ?? null,
					delayNs: delay ?? null,
				})),
		)
		.max(20)
		.default([])
		.meta({
			description:
				"What is done to brokers that mqbench starts, while they are measured: each run of each system meets all of them.",
			examples: [
				[{ at: "10s", action: "pause", for: "500ms" }],
				[{ at: "10s", action: "kill", node: "leader", for: "2s" }],
			],
		}),
	pin: z
		.strictObject({
			generator: CpuSet.optional().meta({
				description: "CPUs of the load generator.",
				examples: ["0-1"],
			}),
			brokers: CpuSet.optional().meta({
				description: "CPUs of brokers that mqbench starts (`target: local`, `docker` and `aws`).",
				examples: ["2-3"],
			}),
		})
		.optional()
		.meta({
			description:
				"CPUs in the manner of taskset, on Linux: generator and brokers that share no core disturb each other less.",
			examples: [{ generator: "0-1", brokers: "2-3" }],
		}),
	generator: z
		.strictObject({
			pacing: z.enum(["auto", "spin", "sleep"]).default("auto").meta({
				description:
					"How it waits for a message's time. `auto`: it spins where a core is to spare beside its client library and brokers on the same machine; `spin`: always, on one core; `sleep`: never, which is up to 30us later and leaves the core to others.",
			}),
		})
		.optional()
		.meta({ description: "The load generator.", examples: [{ pacing: "spin" }] }),
	strict: z.boolean().default(false).meta({
		description: "A percentile that the samples cannot carry is then an error, not INCONCLUSIVE.",
	}),
});
export type ScenarioFile = z.infer<typeof ScenarioFile>;
