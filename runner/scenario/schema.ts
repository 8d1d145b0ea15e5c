import { z } from "zod";
import {
	BrokerName,
	Delivery,
	example,
	noBroker,
	Order,
	SystemOptions,
} from "../brokers/index.ts";
import { CpuSet } from "../model/cpu-set.ts";
import { count, number, parsed, span, unit, warmup } from "../model/field.ts";
import { FaultAction, Target } from "../model/plan.ts";
import {
	Pattern as AnyPattern,
	plainInput,
	unlisted,
} from "../model/workload.ts";
import { parseBytes, parseDuration, parseRate } from "../units.ts";
import { parseLine } from "./sla.ts";

/**
 * The language of a scenario file. The one definition: types, validation, the editor's schema
 * (`scenarios/scenario.schema.json`) and the field reference (`scenarios/README.md`) come from here.
 */

/** Bytes at the start of each payload that carry run, sequence and stamps. */
export const ENVELOPE_BYTES = 40;
/** Bytes at its end that carry the CRC32C, with `checksum: true`. */
export const CHECKSUM_BYTES = 4;
/** Bytes behind the envelope that tell a client which receives others' messages how late they were sent. */
export const LAG_BYTES = 8;
/** Keys that a key distribution draws from, when it does not say. */
export const KEYS = 1000;

export { Target };

const rate = (description: string, examples: string[]) =>
	unit(parseRate, { description, examples });

const Stage = z.strictObject({
	duration: span("How long the rate takes to get there.", ["30s"], "above 0"),
	target: rate("The rate at its end.", ["10000/s"]),
});

const Step = z.strictObject({
	rate: rate("The rate of this step.", ["1000/s"]),
	duration: span(
		"How long it lasts: whole seconds, as reports show steps by the second.",
		["10s"],
		"above 0",
	),
});

const KeyDistribution = z.enum(["round-robin", "random", "zipf"]);

const Keys = z.union([
	z.enum(["none", ...KeyDistribution.options]),
	z.strictObject({
		distribution: KeyDistribution.meta({
			description:
				"`round-robin`: one after the other; `random`: all equally often; `zipf`: the first most often, the second half as often, the third a third as often.",
		}),
		count: count(
			`How many keys there are. Default: ${KEYS}.`,
			100_000_000,
			[100],
		).default(KEYS),
	}),
]);

const Payload = z.union([
	z.enum(["random", "zeros"]),
	z.strictObject({
		file: z
			.string()
			.min(1)
			.meta({
				description:
					"File whose bytes payloads walk through, relative to the scenario's folder.",
				examples: ["orders.json"],
			}),
	}),
	z.strictObject({
		random: number(
			"Which part of each payload is random, 0 to 1; the rest is zeros, which compress.",
			[0.3],
			{ least: 0, most: 1 },
		),
	}),
]);

/** Each field of a workload: what may be written, and its default where that depends on no other field. */
const fields = {
	pattern: AnyPattern.meta({
		description:
			"What messages do. `round-trip`: the sender receives its own message through the broker; `request-reply`: a responder sends it back; `fan-out`: every subscriber gets a copy; `work-queue`: competing consumers, acknowledged; `publish`: nobody receives, the acknowledgement counts; `backlog`: consumers pause while messages pile up, then drain them.",
	}).default("round-trip"),
	rate: rate(
		"Scheduled messages per second, all producers together. Open loop: nothing slows it down. With stages: where they begin.",
		["3000/s", "90/min"],
	).optional(),
	arrivals: z
		.enum(["constant", "poisson"])
		.meta({
			description:
				"When messages are due: at equal distances, or `poisson`: independent of each other, bursts included, with `rate` as the mean.",
		})
		.optional(),
	seed: z
		.int()
		.min(0)
		.max(0xffff_ffff)
		.meta({
			description:
				"Of the poisson arrivals: the same seed gives the same times, for every system. Default: 1.",
			examples: [1],
		})
		.optional(),
	stages: z
		.array(Stage)
		.min(1)
		.max(1000)
		.meta({
			description:
				"A rate that changes along straight lines, from `rate` on; their durations add up to the measured part. The warm-up runs at `rate`.",
			examples: [[{ duration: "30s", target: "10000/s" }]],
		})
		.optional(),
	steps: z
		.array(Step)
		.min(1)
		.max(1000)
		.meta({
			description:
				"One constant rate after the other, shown one by one in reports; their durations add up to the measured part. The warm-up runs at the first one's rate.",
			examples: [
				[
					{ rate: "1000/s", duration: "10s" },
					{ rate: "2000/s", duration: "10s" },
				],
			],
		})
		.optional(),
	messages: count(
		"Closed loop instead of a rate: this many messages, as fast as `inFlight` allows. Shows throughput and service time, no queueing.",
		1_000_000_000,
		[1_000_000],
	).optional(),
	find: z
		.enum(["max-rate"])
		.meta({
			description:
				"Searches the highest rate that still meets the sla with nothing lost; `rate` is where it begins.",
		})
		.optional(),
	message: unit(
		parseBytes,
		{
			description: `Size of a payload, its ${ENVELOPE_BYTES} bytes of envelope included. KB = 1000, KiB = 1024 bytes.`,
			examples: ["256B", "1KiB"],
		},
		(bytes) => {
			if (bytes < ENVELOPE_BYTES)
				return `message must be at least ${ENVELOPE_BYTES}B: that much is the envelope with number and stamps`;
			if (bytes > 1024 ** 3) return "message must be at most 1GiB";
			return undefined;
		},
	),
	duration: span(
		"The measured part of a run, after the warm-up. With messages: the longest that the run may take (default 10min).",
		["10s", "5min"],
		"above 0",
	).optional(),
	warmup: warmup(
		"Sent before the measured part, counted apart: a duration, with messages a number of them. Default: 5s; with messages a tenth of them.",
		["5s", "10000 messages"],
	).optional(),
	drain: span(
		"How long to wait for messages after the last one was due.",
		["30s"],
		"above 0",
	).prefault("30s"),
	timeout: span(
		"A message that completes later than this counts as late; its true time is recorded all the same. Default: drain.",
		["1s"],
		"above 0",
	).optional(),
	inFlight: count(
		"Most messages of one producer that are sent and not completed; at the limit it waits, and the wait is measured. Default: no limit; with messages 1000.",
		1_000_000,
		[1000],
	).optional(),
	connections: count("Connections of producers.", 10_000, [25]).default(1),
	consumerConnections: plainInput.consumerConnections,
	producers: count(
		"Independent sequences of messages; producer p uses connection p mod connections. Default: connections.",
		100_000,
		[25],
	).optional(),
	consumers: plainInput.consumers,
	subscriptions: plainInput.subscriptions,
	topics: count(
		"Topics; producer p sends to topic p mod topics. Default: one for each connection in round-trip and request-reply, else 1.",
		100_000,
		[25],
	).optional(),
	partitions: plainInput.partitions,
	wildcard: plainInput.wildcard,
	bystanders: plainInput.bystanders,
	payload: Payload.meta({
		description:
			"Bytes after the envelope, the same ones for every system: `random`, `zeros`, those of a file, or a part of them random.",
		examples: ["random", { file: "orders.json" }, { random: 0.3 }],
	}).default("random"),
	checksum: z
		.boolean()
		.meta({
			description: `Every payload ends in its CRC32C (${CHECKSUM_BYTES} bytes), checked at the receipt; adds the gate \`corrupted == 0\`.`,
		})
		.default(false),
	keys: Keys.meta({
		description: `Keys of messages, by which brokers that have them choose the partition: how they are drawn, of ${KEYS} keys or as many as \`count\` says.`,
		examples: ["zipf", { distribution: "random", count: 100 }],
	}).default("none"),
	work: plainInput.work,
	backlog: z
		.union([
			z.int().min(1).max(1_000_000_000),
			unit(
				(text) => ({ bytes: parseBytes(text) }),
				{
					description: "Payload bytes that pile up.",
					examples: ["1GiB"],
				},
				({ bytes }) => (bytes === 0 ? "backlog must be above 0" : undefined),
			),
		])
		.meta({
			description:
				"`backlog`: messages that pile up, or their size, while consumers pause. They pause after a fifth of the duration.",
			examples: [100_000, "1GiB"],
		})
		.optional(),
	delivery: Delivery.meta({
		description:
			"What must hold of each message, whatever the broker promises: `at-least-once` adds the gate `lost == 0`, `exactly-once` also `duplicated == 0`. Default: the broker's own promise.",
	}).optional(),
	order: Order.meta({
		description:
			"In which order messages must arrive. `per-producer`: each producer's in the order of sending; `per-key`: those of one producer with one key. Adds the gate `reordered == 0`.",
	}).default("none"),
	...unlisted(plainInput),
};

/** A workload with every default that doesn't depend on another field. What each case resolves to. */
export const Workload = z.strictObject(fields);
export type Workload = z.infer<typeof Workload>;
export type WorkloadField = keyof typeof fields;
export const workloadFields = Object.keys(fields) as WorkloadField[];
/** Those that no workload is without. */
export const neededFields = workloadFields.filter(
	(field) => !(fields[field] instanceof z.ZodOptional),
);

/** Cases and matrices have no defaults: what they leave out is the workload's. */
const overrides = Object.fromEntries(
	Object.entries(fields).map(([field, schema]) => [field, written(schema)]),
) as { [F in WorkloadField]: Written<(typeof fields)[F]> };
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

/** Fields are optional here, as cases may bring them. */
const SharedWorkload = Workload.partial({ message: true });

const System = z.union([BrokerName, SystemOptions]).meta({
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
			"p99 <= baseline + 10%",
		],
	})
	.transform(parsed(parseLine));

const slaFields = {
	expect: SlaText,
	system: z.string().optional().meta({
		description: "Key of the one system it is for. Default: all.",
	}),
	abort: z.boolean().default(false).meta({
		description:
			"A run that cannot meet it any more is stopped. Not for a line that compares with a baseline.",
	}),
};

/** A line in `sla` of a case: which case it is for is said by its place. */
export const CaseSlaEntry = z.union([SlaText, z.strictObject(slaFields)]);

export const SlaEntry = z.union([
	SlaText,
	z.strictObject({
		...slaFields,
		case: z.string().optional().meta({
			description:
				"Name of the one case it is for, or the words it begins with. Default: all.",
		}),
	}),
]);

const CaseOverrides = z
	.strictObject({
		name: z
			.string()
			.min(1)
			.max(80)
			.regex(
				/^[^\p{C}*?]+$/u,
				"name of a case must be one line of text without * and ?",
			)
			.meta({
				description:
					'Unique name. Default: what the case overrides, "1KiB 3000/s".',
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

/** Of each field a list of values. */
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

/** Keys of systems and names of scenarios become parts of topics, folders and of `--only`. */
export const Name = z
	.string()
	.max(80)
	.regex(
		// Two dots in a row would be an empty part of a NATS subject, a dot at the end a folder that Windows renames.
		/^(?!.*\.\.)[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9_-])?$/,
		"a name has letters, digits, - _ and single dots between them, and begins with a letter or digit",
	);

const FaultNode = z
	.union([count("Number of the node, from 1.", 3, [1]), z.literal("leader")])
	.meta({
		description:
			"Number of the node, from 1, of a broker with several; `leader`: the one that leads the first topic at that moment. Default: all.",
		examples: [1, "leader"],
	});

/** Most clients of a run. */
const MOST_CLIENTS = 100;

const Clients = z.union([
	count(
		"k6 processes on this machine; `target: aws`: rented machines.",
		MOST_CLIENTS,
		[3],
	),
	z
		.array(
			z
				.string()
				.regex(
					/^(?:[\w.-]+@)?(?!-)[\w.-]+(?::\d{1,5})?$/,
					"a client is a host that ssh knows; write host, user@host or user@host:port",
				),
		)
		.min(1)
		.max(MOST_CLIENTS)
		.meta({
			description: "Hosts, as ssh takes them: user@host, or user@host:port.",
		}),
	z.strictObject({
		docker: count("Containers of mqbench's own image.", MOST_CLIENTS, [3]),
	}),
]);

/** Shortest and longest life of rented machines. */
const LEAST_TTL_NS = 600e9;
const MOST_TTL_NS = 7 * 24 * 3600e9;

const instance = (what: string, example: string) =>
	z
		.string()
		.regex(
			/^[a-z][a-z0-9-]*\.[a-z0-9-]+$/,
			`an instance type is written as AWS does, e.g. ${example}`,
		)
		.meta({ description: what, examples: [example] });

const Aws = z.strictObject({
	region: z
		.string()
		.regex(
			/^[a-z]{2}(-[a-z]+)+-\d$/,
			"a region is written as AWS does, e.g. eu-central-1",
		)
		.meta({
			description: "Region in which machines are rented.",
			examples: ["eu-central-1"],
		}),
	zone: z
		.string()
		.regex(
			/^[a-z]{2}(-[a-z0-9]+)+-\d[a-z]$/,
			"a zone is written as AWS does, e.g. eu-central-1a",
		)
		.optional()
		.meta({
			description:
				"Availability zone; all machines are in one. Default: the first of the region that has all types.",
			examples: ["eu-central-1a"],
		}),
	profile: z
		.string()
		.min(1)
		.optional()
		.meta({
			description:
				"Profile of AWS's configuration files. Default: what the environment says (AWS_PROFILE, AWS_ACCESS_KEY_ID).",
			examples: ["bench"],
		}),
	owner: z
		.string()
		.min(1)
		.max(128)
		.optional()
		.meta({
			description:
				"Whose machines these are: the tag mqbench:owner. Default: the caller's name in AWS.",
			examples: ["ada"],
		}),
	ami: z
		.string()
		.regex(
			/^ami-[0-9a-f]+$/,
			"an image is written as AWS does, e.g. ami-0123456789abcdef0",
		)
		.optional()
		.meta({
			description:
				"Image of the machines: a Debian 12. Default: the newest one for the types' processor.",
			examples: ["ami-0123456789abcdef0"],
		}),
	ttl: unit(
		parseDuration,
		{
			description:
				"From then on the machines end themselves, whatever has become of mqbench; 10min to 168h. Default: 2h.",
			examples: ["2h"],
		},
		(ns) =>
			ns < LEAST_TTL_NS || ns > MOST_TTL_NS
				? "ttl must be 10min to 168h"
				: undefined,
	).prefault("2h"),
	sshFrom: z
		.string()
		.regex(
			/^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!\/|$)|(?=\/|$))){4}(?:\/32)?$/,
			"sshFrom is one address (IPv4), the only one that SSH is open to; write e.g. 203.0.113.7",
		)
		.optional()
		.meta({
			description:
				"The one address from which SSH comes in. Default: that under which AWS sees the caller.",
			examples: ["203.0.113.7"],
		}),
	brokers: z
		.strictObject({
			instance: instance(
				"Instance type of the brokers' machines: as many as the system with the most `nodes` has, and all systems take turns on them.",
				"i4i.xlarge",
			),
			volume: z
				.strictObject({
					type: z.enum(["gp3", "io2"]).default("gp3").meta({
						description: "Kind of volume.",
					}),
					size: unit(
						parseBytes,
						{
							description: "Its size, whole GiB.",
							examples: ["100GiB"],
						},
						(bytes) =>
							bytes % 1024 ** 3 !== 0 ||
							bytes < 4 * 1024 ** 3 ||
							bytes > 65_536 * 1024 ** 3
								? "size of a volume must be whole GiB, 4GiB to 65536GiB"
								: undefined,
					),
					iops: count(
						"Writes and reads a second that are paid for; io2 needs it. Default: those that come with gp3.",
						256_000,
						[6000],
					).optional(),
					throughput: unit(
						parseBytes,
						{
							description:
								"gp3: bytes a second that are paid for, whole MiB. Default: those that come with it.",
							examples: ["500MiB"],
						},
						(bytes) =>
							bytes % 1024 ** 2 !== 0 ||
							bytes < 125 * 1024 ** 2 ||
							bytes > 2000 * 1024 ** 2
								? "throughput of a volume must be whole MiB, 125MiB to 2000MiB"
								: undefined,
					).optional(),
				})
				.optional()
				.meta({
					description:
						"Volume (EBS) that brokers store on. Default: the machine's own NVMe, which its type must have.",
					examples: [{ type: "gp3", size: "100GiB" }],
				}),
		})
		.meta({
			description: "Machines of the brokers.",
			examples: [{ instance: "i4i.xlarge" }],
		}),
	clients: z
		.strictObject({
			instance: instance(
				"Instance type of the machines that make the load; `clients` says how many.",
				"c6in.xlarge",
			),
			spot: z.boolean().default(false).meta({
				description:
					"Cheaper, and taken away when somebody pays more: the run is then INVALID.",
			}),
		})
		.meta({
			description: "Machines that make the load.",
			examples: [{ instance: "c6in.xlarge" }],
		}),
});

export const ScenarioFile = z.strictObject({
	name: Name.optional().meta({
		description: "Default: the file's name without its extension.",
		examples: ["quickstart"],
	}),
	target: Target.default("local").meta({
		description:
			"Where the brokers run. `local`: mqbench starts them on this machine; `docker`: in containers of this machine's Docker engine; `existing`: they are yours, each system has a url; `aws`: on machines of EC2, rented for this command (`aws`). `--target` overrides, and then leaves aside what only other targets have; `--rig` takes brokers that stay up.",
	}),
	clients: Clients.default(1).meta({
		description:
			"What makes the load. A number: so many k6 processes on this machine, with `target: aws` so many rented machines, on a rig that has clients the first so many of its hosts; a list: one k6 process on each host, over SSH; `{ docker: n }`: so many containers of mqbench's own image (`target: docker`). Together they send one schedule: any number of clients gives the same messages at the same times. Each has at least one connection. `--clients` overrides. Default: 1.",
		examples: [3, ["bench@10.0.0.11", "bench@10.0.0.12"], { docker: 3 }],
	}),
	aws: Aws.optional().meta({
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
	system: System.optional().meta({
		description:
			"The one system to measure; a scenario has either this or systems.",
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
		description:
			"Lists of values of fields of the workload: one case for each combination.",
		examples: [{ message: ["256B", "1KiB"], rate: ["1000/s", "10000/s"] }],
	}),
	repeat: count("How often the whole list of runs is made.", 1000, [3]).default(
		1,
	),
	sla: z
		.array(SlaEntry)
		.default([])
		.meta({
			description:
				"What must hold, judged per system and case. Decides the exit code.",
			examples: [["p99 < 20ms", "lost == 0"]],
		}),
	baseline: z
		.string()
		.min(1)
		.optional()
		.meta({
			description:
				"What `p99 <= baseline + 10%` compares with: a system of this scenario, or a baseline.json or run folder. `--baseline` overrides.",
			examples: ["old", `baselines/${example.broker}.json`],
		}),
	faults: z
		.array(
			z.strictObject({
				at: span("When it begins, after the end of the warm-up.", ["10s"]),
				action: FaultAction.meta({
					description:
						"`pause`: its processes are frozen (SIGSTOP), and go on afterwards; `kill`: they get SIGKILL, and start again afterwards; `restart`: they are asked to end, and start again; `partition`: the node is cut off from its network; `latency`: its network takes longer by `delay`. The last two are for `target: docker` alone.",
				}),
				for: span(
					"How long it lasts. Of `kill`: until the node is started again; default: never. Of `restart`: how long it stays down; default: it starts at once.",
					["500ms"],
					"above 0",
				).optional(),
				node: FaultNode.optional(),
				broker: FaultNode.optional().meta({ description: "The same as node." }),
				delay: span(
					"`latency`: how much later each packet of the node leaves.",
					["50ms"],
					"above 0",
				).optional(),
			}),
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
				description:
					"CPUs of brokers that mqbench starts (`target: local`, `docker` and `aws`).",
				examples: ["2-3"],
			}),
		})
		.optional()
		.meta({
			description:
				"CPUs in the manner of taskset, on Linux: generator and brokers that share no core disturb each other less.",
			examples: [{ generator: "0-1", brokers: "2-3" }],
		}),
	strict: z.boolean().default(false).meta({
		description:
			"A percentile that the samples cannot carry is then an error, not INCONCLUSIVE.",
	}),
});
export type ScenarioFile = z.infer<typeof ScenarioFile>;
