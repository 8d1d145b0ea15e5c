import { formatBytesExact } from "../units.ts";
import { type Broker, brokers } from "./brokers.ts";
import { type JsonSchema, scenarioJsonSchema } from "./json-schema.ts";

/** The text of `scenarios/README.md`: an introduction by hand, the fields from the schema. */
export function scenarioReference(): string {
	const schema = scenarioJsonSchema();
	const fields = schema.properties ?? {};
	const sections = [
		INTRODUCTION,
		section("Top level", "", schema, { skipExamples: ["cases", "systems"] }),
		section(
			"workload",
			`\`rate\`, \`message\` and \`duration\` are needed, here or in each case.`,
			fields.workload,
		),
		`## cases

A case takes every field of \`workload\`, and \`name\`. Without a name it is called by what it overrides: message,
rate, then the rest ("1KiB 20000/s 25 connections"). Without \`cases\` there is one case, called by its message and
rate ("256B 3000/s").`,
		...systems(fields.system),
		section("sla", SLA, sla(fields.sla)),
	];
	return `${sections.join("\n\n")}\n`;
}

// --- internal ---

const INTRODUCTION = `<!-- Generated from runner/scenario/schema.ts by \`npm run golden\`. Change that file, or the introduction in reference.ts. -->

# Scenarios

A scenario is one YAML file that says what to measure and what must hold. Run one with \`npx mqbench scenarios/quickstart.yaml\`;
check it without a broker with \`npx mqbench validate scenarios/quickstart.yaml\`.

| file | the question it answers |
|---|---|
| [quickstart.yaml](quickstart.yaml) | Does everything work on this machine? 15 seconds. |
| [message-sizes.yaml](message-sizes.yaml) | How does latency grow with the size of a message? |
| [existing-nats.yaml](existing-nats.yaml) | Does a NATS server that is already there keep its promise? |

Editors show descriptions and mistakes while you type when the first line is
\`# yaml-language-server: $schema=./scenario.schema.json\`; \`npx mqbench schema\` prints that schema.

**Units are part of a value**, bare numbers are refused where they could mean two things. Durations: \`ns us ms s min h\`. Sizes:
\`B\`, \`KB MB GB\` (1000), \`KiB MiB GiB\` (1024). Rates: \`3000/s\`, \`90/min\`, \`1/10s\`. All are kept exactly.

**The command line overrides** single values: \`--set workload.rate=5000/s\`, \`--set cases.0.message=1KiB\`, \`--target existing\`,
\`--url nats://host:4222\`. \`--only 'nats/256B*'\` picks runs by system/case.

**Secrets** stay in the environment: \`url: "\${NATS_URL}"\`. A variable may also be a part of it, \`nats://me:\${PASSWORD}@host\`.
A password or token in the file itself is refused, as reports keep a copy of the file.

**Order of runs**: \`repeat\` is outermost, then cases, then systems, so that a machine that gets slower does so for all systems.`;

const SLA = `A line is \`[metric] percentile op limit\` or \`counter op limit\`:

| line | says |
|---|---|
| \`p99 < 20ms\` | 99 % of the response times, from the intended send time, lie below 20 ms; \`p(99)\` is the same |
| \`service p99.9 <= 5ms\` | the same of another metric: \`response\`, \`service\`, \`lag\`, \`queued\`, \`ack\` |
| \`max < 1s\` | the largest sample |
| \`lost == 0\` | a counter: \`lost\`, \`failed\`, \`unknown\`, \`duplicated\`, \`reordered\`, \`redelivered\`, \`corrupted\` (needs \`checksum: true\`), \`notOffered\`; with \`==\`, \`<\`, \`<=\` |
| \`throughput >= 100000/s\` | messages received per second; \`achieved\`: really sent; with \`>=\`, \`>\` |

\`delivery\`, \`order\` and \`checksum\` of the workload add lines by themselves; reports say where such a line comes from, "lost == 0 (delivery:
at-least-once)". A line about the same counter takes its place. \`npx mqbench plan\` says which percentiles the samples will carry.

A line that is for one system or case only, or that stops a run it cannot be met in any more, is a map:`;

interface SectionOptions {
	/** Fields whose examples are shown elsewhere. */
	readonly skipExamples?: readonly string[];
}

function section(
	title: string,
	text: string,
	schema: JsonSchema | undefined,
	{ skipExamples = [] }: SectionOptions = {},
): string {
	const rows = Object.entries(schema?.properties ?? {}).map(([name, field]) =>
		row(name, field, skipExamples.includes(name)),
	);
	return [
		`## ${title}`,
		...(text === "" ? [] : [text]),
		["| field | value | default | |", "|---|---|---|---|", ...rows].join("\n"),
	].join("\n\n");
}

function row(name: string, field: JsonSchema, skipExamples: boolean): string {
	const value = values(field, skipExamples);
	const preset =
		field.default === undefined || Array.isArray(field.default)
			? ""
			: code(field.default);
	return `| \`${name}\` | ${value} | ${preset} | ${cell(field.description ?? "")} |`;
}

/** What may stand there: the choices, else examples, else the kind of value. */
function values(field: JsonSchema, skipExamples: boolean): string {
	if (field.const !== undefined) return code(field.const);
	if (field.enum) return field.enum.map(code).join(", ");
	if (field.examples && !skipExamples)
		return field.examples.flat().map(code).join(", ");
	if (field.type === "boolean") return "`true`, `false`";
	return { array: "a list", object: "a map" }[field.type ?? ""] ?? "text";
}

/** One section for each broker: what it takes, and the facts that a scenario is checked against. */
function systems(system: JsonSchema | undefined): string[] {
	const kinds = system?.anyOf?.flatMap((choice) => choice.oneOf ?? []) ?? [];
	const intro = `## system and systems

\`system: nats\` is short for \`system: { broker: nats }\`. To compare, name them:

\`\`\`yaml
systems:
  nats: { broker: nats }
  floor: { broker: noop }
\`\`\``;
	return [
		intro,
		...kinds.map((kind) => {
			const name = String(kind.properties?.broker?.const);
			const broker: Broker | undefined = brokers[name as keyof typeof brokers];
			const largest = broker?.maxMessageBytes;
			const facts = broker
				? `${broker.title}. Durability: ${broker.durability}. Promises: ${broker.delivery}, ${broker.order === "none" ? "no order" : `order ${broker.order}`}. Acknowledgements: ${broker.acks ? "yes" : "none"}. Largest message: ${typeof largest === "number" ? formatBytesExact(largest) : "no limit"}.`
				: "";
			return section(name, facts, kind).replace("## ", "### ");
		}),
	];
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
