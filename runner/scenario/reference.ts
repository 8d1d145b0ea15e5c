import {
	BrokerName,
	brokerOf,
	example,
	noBroker,
	SystemOptions,
	variable,
} from "../brokers/index.ts";
import { needs, TALLIES, Tally, UNITS } from "../model/tallies.ts";
import { formatBytesExact } from "../units.ts";
import { type JsonSchema, scenarioJsonSchema } from "./json-schema.ts";
import { promised } from "./systems-table.ts";

/**
 * The text of `scenarios/README.md`: an introduction by hand, the scenarios with the questions that open them, the fields
 * from the schema.
 */
export function scenarioReference(
	scenarios: readonly { readonly file: string; readonly text: string }[],
): string {
	const schema = scenarioJsonSchema();
	const fields = schema.properties ?? {};
	const sections = [
		INTRODUCTION,
		questions(scenarios),
		LANGUAGE,
		section("Top level", "", schema),
		section("workload", WORKLOAD, fields.workload),
		CASES,
		...systems(fields.system),
		section("sla", SLA, sla(fields.sla)),
		section("aws", AWS, fields.aws),
		section("kubernetes", KUBERNETES, fields.kubernetes),
	];
	return `${sections.join("\n\n")}\n`;
}

// --- internal ---

const INTRODUCTION = `<!-- Generated from runner/scenario/schema.ts by \`npm run golden\`. Change that file, or the introduction in reference.ts. -->

# Scenarios

A scenario is one YAML file that says what to measure and what must hold.

| | |
|---|---|
| \`npx mqbench scenarios/quickstart.yaml\` | runs it |
| \`npx mqbench init\` | writes a new one |
| \`npx mqbench validate scenarios/quickstart.yaml\` | checks it, without a broker; \`--json\` prints mistakes for editors and CI |
| \`npx mqbench plan scenarios/quickstart.yaml\` | shows the runs, and which percentiles they will carry |
| \`npx mqbench scenarios/quickstart.yaml --quick\` | tries it: 3 s or 2000 messages a run, no results |

- [Systems, patterns and loads](systems.md): what each system promises, what \`durability\` sets, faults, many runs.
- [Compare](comparing.md): two builds in one run, an earlier run, this machine's noise.
- [Where a scenario runs](where-it-runs.md): Docker, your own cluster, several clients, EC2, passwords.

## Ready scenarios`;

const LANGUAGE = `## The language

Editors complete and check a scenario that begins with \`# yaml-language-server: $schema=./scenario.schema.json\`;
\`npx mqbench schema\` prints that schema.

**Units are part of a value.** Durations: \`ns us ms s min h\`. Sizes: \`B\`, \`KB MB GB\` (1000), \`KiB MiB GiB\` (1024). Rates:
\`3000/s\`, \`90/min\`, \`1/10s\`. All are exact. Bare numbers are refused where they could mean two things.

**The command line overrides** single values: \`--set workload.rate=5000/s\`, \`--set cases.0.message=1KiB\`, \`--target existing\`,
\`--url ${example.url("host")}\`. \`--only '${example.broker}/256B*'\` picks runs by system/case.

**Secrets** come from the environment: \`url: "\${${example.variable}}"\`, or a part of it, \`${example.url(`me:${variable("PASSWORD")}@host`)}\`.
A password in the file itself is refused, because reports keep a copy of the file. Other texts of a system take variables, too
(\`binary: "\${BUILD}/server"\`), but their values appear in the files of the run.

**Paths** (\`binary\`, \`payload: { file }\`, certificates) are relative to the scenario's folder. A bare \`binary\` is looked up on PATH.

**Where it runs**: \`target\` is \`local\`, \`docker\`, \`existing\`, \`aws\` or \`kubernetes\`, and \`clients\` says what makes the load. With \`--target\`,
\`--url\`, \`--clients 3\`, \`--clients bench@a,bench@b\` or \`--rig rig.json\` on the command line, settings of other targets (\`url\`,
\`binary\`, \`image\`, some faults) are ignored. In the file they are mistakes, except for the blocks \`aws\` and \`kubernetes\`.

**Several clients** send one schedule together. \`connections\` must be at least \`clients\`. With \`round-trip\` and \`request-reply\` leave
\`topics\` at its default, one for each connection. With \`fan-out\`, \`work-queue\` and \`backlog\` other clients receive the messages:
two clocks then time a response (the report prints how far apart they may be), and there is neither \`last\` nor the order within a group. A closed load (\`messages\`) needs one client.

**Your own topics**: \`create: false\` with \`topics: [orders]\` measures on existing topics (\`target: existing\`). mqbench makes, changes and
removes nothing, starts to read at their end, and counts messages of others as foreign. Its own messages stay there. If other consumers
take messages from the same queue, they take mqbench's, too: use a queue that nobody else reads.

**Order of runs**: \`repeat\` is outermost, then cases, then systems, so that a machine that slows down slows down all systems. Every second
repeat reverses the systems (A B, B A, A B, ...), so that none is always first.`;

const SLA = `A line is \`[metric] percentile op limit\` or \`counter op limit\`:

| line | says |
|---|---|
| \`p99 < 20ms\` | 99 % of the response times, from the intended send time, are below 20 ms; \`p(99)\` is the same |
| \`service p99.9 <= 5ms\` | the same of another metric: \`response\`, \`service\` (from the send call), \`ack\` (until the acknowledgement), \`last\` (fan-out: until the slowest subscriber has it), \`lag\`, \`queued\` |
| \`max < 1s\` | the largest sample |
| \`lost == 0\` | a counter: ${counters()}; with ${UNITS.messages.ops.map(code).join(", ")} |
| \`failed == all\` | every message failed, as it should (\`message: limit + 1B\`): none was lost without a word |
| ${ratesAndTimes(null)}; with ${UNITS["messages/s"].ops.map(code).join(", ")} |
| ${ratesAndTimes("backlog")} |
| ${ratesAndTimes("faults")} |
| \`recovered(p99 < 100ms) < 15s\` | the same of a latency that need not hold during the fault: it has to be met again within 15 s |
| \`p99 <= baseline + 10%\` | at most 10 % slower than a baseline; of a rate \`throughput >= baseline - 5%\`; \`baseline * 1.1\` says the same |
| \`p99 <= max(baseline + 10%, baseline + 2ms)\` | the same of a latency so small that 10 % of it is noise: up to 2 ms more is allowed |

Figures that a run does not have are refused: a closed load (\`messages\`) has only \`service\` and \`ack\`, a \`backlog\` only \`ack\`,
\`lag\` and \`queued\`, and \`publish\` nothing about receipts.

Lines about **faults** are judged for each fault, from the moment the broker is told of it, and the worst fault decides. \`unavailable\` is
the longest single stretch, not the sum. What has not ended when the window closes or the next fault begins is shown as \`> 12s\`, and FAILs if
the limit had passed by then. So the window has to go on for the limit and 1 s after each fault; a scenario where it does not is refused.
\`recovered\` counts to the last 100 ms of messages that break the latency, \`drained\` until the queue is for 2 s what it was in the 2 s before
the fault. Where nothing is done to a broker (no server, or \`--target existing\`) these lines are left out. How each is counted:
[reports/README.md](../reports/README.md#failover).

\`delivery\`, \`order\` and \`checksum\` of the workload add lines by themselves, which reports show as "lost == 0 (delivery:
at-least-once)". Your own line about the same counter replaces such a line.

A line that compares with a **baseline** is judged once, over all repeats: use at least \`repeat: 4\` on each side, better 5. It FAILs if the
whole 95 % interval of the ratio lies beyond the margin, PASSes if all of it lies within, and is INCONCLUSIVE otherwise. Percentiles, rates,
\`drainTime\`, \`unavailable\` and \`drained\` can be compared; counts, \`max\` and \`recovered\` take fixed limits. The baseline is a system of the scenario (\`baseline: old\`, best on
noisy machines), or the \`baseline.json\` of an earlier run (\`--baseline <file|folder>\`, or a path as \`baseline\`). \`--baseline none\` skips
these lines, to record the first baseline. With a baseline and no such line, p50 (10 %), p99 (25 %) and the throughput of a closed load
(5 %) are judged.

Write a line as a map if it is for one system or case, or if it should stop a run that can no longer meet it. A case may have an \`sla\` of
its own, which is added to this one.`;

const AWS = `What \`target: aws\` rents for one command, in one zone: broker machines for the system with the most \`nodes\` (all systems take turns on
them), and one machine for each of \`clients\`. Other targets ignore the block. \`npx mqbench plan <scenario> --target aws\` prints machines,
durations and the price; nothing is rented before you agree. Details: [infra/README.md](../infra/README.md#ec2).

Systems have \`nodes\`, \`config\`, \`pin\` and \`durability\` as on other targets. Brokers have the version that mqbench brings or that of Debian 12.
With \`image\`, or \`version\` (unless mqbench can copy any of them there; \`plan\` says so), Docker runs on the machine what \`target: docker\` would run, within \`cpus\`
and \`memory\`. \`port\` and \`binary\` belong to other targets. Faults: \`pause\`, \`kill\`, \`restart\`. A \`ttl\` that is too short for the planned runs is refused.`;

const KUBERNETES = `Where and as what pods run. \`target: kubernetes\` starts brokers and load in pods of the cluster that \`kubectl\` reaches, from the images that
\`target: docker\` uses; \`clients\` is the number of pods that make load. With \`target: existing\`, \`clients: { kubernetes: n }\` makes the load in pods, against brokers
in the cluster or elsewhere. Nothing is needed but \`kubectl\` and the rights that \`npx mqbench plan <scenario> --target kubernetes\` prints. Details:
[infra/README.md](../infra/README.md#kubernetes).`;

const WORKLOAD = `\`message\` and one load are needed, here or in each case. A load is one of these:

| load | what it is |
|---|---|
| \`rate: 3000/s\`, \`duration: 10s\` | open: each message has its time; \`arrivals: poisson\` draws the times |
| \`rate: 1000/s\`, \`stages: [{ duration: 30s, target: 10000/s }]\` | open, along straight lines |
| \`steps: [{ rate: 1000/s, duration: 10s }, { rate: 2000/s, duration: 10s }]\` | open, one rate after the other, reported one by one |
| \`messages: 1000000\` | closed: as fast as \`inFlight\` allows; shows throughput and service time, no queueing |
| \`rate: 1000/s\`, \`find: max-rate\` | the highest rate that meets the sla, found from there |

| pattern | response ends at | who receives |
|---|---|---|
| \`round-trip\` | the first copy that reaches the sender's process | each connection its own messages |
| \`request-reply\` | the first reply | \`consumers\` responders, and the requester |
| \`fan-out\` | the first copy at each subscriber | each of the \`subscriptions\` every message |
| \`work-queue\` | the first delivery, before \`work\` | one of the \`consumers\` |
| \`publish\` | the acknowledgement | nobody |
| \`backlog\` | - (\`ack\`, \`drainTime\`, \`drainRate\`) | one of the \`consumers\`, which pause after a fifth of the duration until the backlog has built up |`;

const CASES = `## cases and matrix

A case takes every field of \`workload\`, \`name\`, and \`sla\`. Single fields replace those of the workload; a case that brings another kind of load
(\`messages\` over \`rate\`) replaces the whole load. Without a name it is called by what it overrides: message, load, then the rest
("1KiB 20000/s 25 connections"). Without \`cases\` there is one case, called by its message and load ("256B 3000/s").

\`matrix: { message: [256B, 1KiB], rate: [1000/s, 10000/s] }\` stands for the four cases of all combinations, the first field outermost. A scenario
has cases or a matrix.`;

/** The first sentences of a scenario's opening comment are the question that it answers. */
function questions(scenarios: readonly { readonly file: string; readonly text: string }[]): string {
	const rows = scenarios.map(({ file, text }) => {
		const comment = text
			.split("\n")
			.filter((line) => !line.startsWith("# yaml-language-server"))
			.join("\n");
		const lines = /^(# .*\n)*/.exec(comment)?.[0] ?? "";
		const words = lines.replaceAll(/^# /gm, "").replaceAll("\n", " ");
		const question = /^[^?]*\?/.exec(words)?.[0] ?? QUICKSTART;
		return `| [${file}](${file}) | ${cell(question)} |`;
	});
	return ["| file | the question it answers |", "|---|---|", ...rows].join("\n");
}

const QUICKSTART = "Does everything work on this machine? 15 seconds.";

/** Fields that have a section of their own. */
const ELSEWHERE = ["aws", "cases", "kubernetes", "matrix", "sla", "systems", "workload"];

function section(title: string, text: string, schema: JsonSchema | undefined): string {
	const rows = fieldsOf(schema).map(([name, field]) => row(name, field));
	return [
		`## ${title}`,
		...(text === "" ? [] : [text]),
		["| field | value | default | |", "|---|---|---|---|", ...rows].join("\n"),
	].join("\n\n");
}

function row(name: string, field: JsonSchema): string {
	const value = values(field, ["cases", "systems"].includes(name));
	const preset =
		field.default === undefined || Array.isArray(field.default) ? "" : code(field.default);
	return `| \`${name}\` | ${value} | ${preset} | ${cell(field.description ?? "")} |`;
}

/** What may stand there: the choices, else examples, else the kind of value. */
function values(field: JsonSchema, skipExamples: boolean): string {
	if (field.const !== undefined) return code(field.const);
	if (field.enum) return [...new Set(field.enum.map(code))].join(", ");
	if (field.examples && !skipExamples) return shown(field.examples).map(code).join(", ");
	if (field.type === "boolean") return "`true`, `false`";
	return { array: "a list", object: "a map" }[field.type ?? ""] ?? "text";
}

/** A list of texts reads better as its texts. */
function shown(examples: readonly unknown[]): readonly unknown[] {
	return examples.every(
		(one) => Array.isArray(one) && one.every((item) => typeof item === "string"),
	)
		? examples.flat()
		: examples;
}

/** One section for each broker: what it takes, and the facts that a scenario is checked against. */
function systems(system: JsonSchema | undefined): string[] {
	const kinds = system?.anyOf?.flatMap((choice) => choice.oneOf ?? []) ?? [];
	const intro = `## system and systems

\`system: ${example.broker}\` is short for \`system: { broker: ${example.broker} }\`. To compare, name them:

\`\`\`yaml
systems:
  ${example.broker}: { broker: ${example.broker} }
  floor: { broker: ${noBroker} }
\`\`\``;
	return [
		intro,
		...kinds.map((kind) => {
			const name = String(kind.properties?.broker?.const);
			return section(name, facts(name), kind).replace("## ", "### ");
		}),
	];
}

/** What a system is and promises when only its broker is named. */
function facts(name: string): string {
	const broker = BrokerName.parse(name);
	const traits = brokerOf({ broker }).traits(SystemOptions.parse({ broker }));
	const largest = traits.maxMessageBytes;
	return `${traits.title}. Durability: ${traits.ownDurability}. Promises: ${promised(traits)}, ${traits.ordered ? "order per-producer" : "no order"}. Acknowledgements: ${traits.acks ? "yes" : "none"}. Largest message: ${largest === null ? "no limit" : formatBytesExact(largest)}.`;
}

/** Fields of maps and lists in maps stand below them: "brokers.instance", "faults[].at". A map that must be there is no row itself. */
function fieldsOf(schema: JsonSchema | undefined, above = ""): [string, JsonSchema][] {
	return Object.entries(schema?.properties ?? {}).flatMap(
		([name, field]): [string, JsonSchema][] => {
			const own: [string, JsonSchema] = [`${above}${name}`, field];
			if (above === "" && ELSEWHERE.includes(name)) return [own];
			const within = [
				...fieldsOf(field.items ?? field, `${own[0]}${field.items ? "[]" : ""}.`),
				...(field.anyOf ?? []).flatMap((one) => fieldsOf(one, `${own[0]}.`)),
			];
			const needed = schema?.required?.includes(name) && field.properties;
			return needed ? within : [own, ...within];
		},
	);
}

/** "`lost`, `corrupted` (needs `checksum: true`)" */
function counters(): string {
	return Tally.options
		.filter((name) => TALLIES[name].unit === "messages")
		.map((name) => [name, TALLIES[name].says] as const)
		.map(([name, says]) => (says ? `${code(name)} (${says})` : code(name)))
		.join(", ");
}

/** The cells of a row: its line, what it says, and the others of its kind with what they say. Times come first. */
function ratesAndTimes(need: "backlog" | "faults" | null): string {
	return (["ns", "messages/s"] as const)
		.flatMap((unit) => Tally.options.filter((t) => TALLIES[t].unit === unit))
		.filter((name) => TALLIES[name].sameAs === undefined)
		.filter(
			(name) =>
				(["backlog", "faults"] as const).find((n) => needs(name, n)) === (need ?? undefined),
		)
		.map((name) => [name, TALLIES[name]] as const)
		.map(([name, { example, says }], i) => {
			const line = code(example ? `${name} ${example}` : name);
			return `${line}${i === 0 ? " |" : ":"} ${says}`;
		})
		.join("; ");
}

function sla(list: JsonSchema | undefined): JsonSchema | undefined {
	return list?.items?.anyOf?.find((choice) => choice.type === "object");
}

function code(value: unknown): string {
	return `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
}

function cell(text: string): string {
	return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
