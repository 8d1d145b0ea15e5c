import { TALLIES, Tally, UNITS } from "../model/tallies.ts";
import { type JsonSchema, scenarioJsonSchema } from "./json-schema.ts";

/**
 * The text of `scenarios/README.md`, with what is generated in it anew: the scenarios with the questions that open them, the fields from the
 * schema, the lines of an SLA.
 */
export function scenarioReference(
	text: string,
	scenarios: readonly { readonly file: string; readonly text: string }[],
): string {
	const schema = scenarioJsonSchema();
	const fields = schema.properties ?? {};
	const parts: Readonly<Record<string, string>> = {
		scenarios: questions(scenarios),
		top: table(schema),
		workload: table(fields.workload),
		systems: systems(fields.system),
		lines: slaLines(),
		sla: table(sla(fields.sla)),
		aws: table(fields.aws),
		kubernetes: table(fields.kubernetes),
	};
	return text.replaceAll(
		/(<!-- generated: (\w+) -->\n)[\s\S]*?(?=<!-- end -->)/g,
		(_, begin: string, part: string) => `${begin}\n${parts[part]}\n\n`,
	);
}

// --- internal ---

function slaLines(): string {
	const counters = Tally.options.filter((name) => TALLIES[name].unit === "messages");
	const others = Tally.options.flatMap((name) => {
		const { unit, sameAs, example = UNITS[unit].example, says } = TALLIES[name];
		if (unit === "messages" || sameAs !== undefined) return [];
		return [`| ${code(`${name} ${example}`)} | ${says} |`];
	});
	return `| line | says |
|---|---|
| \`p99 < 20ms\` | 99 % of the response times, from the intended send time, are below 20 ms; \`p(99)\` is the same |
| \`service p99.9 <= 5ms\` | the same of another metric: \`response\`, \`service\` (from the send call), \`ack\` (until the acknowledgement), \`last\` (fan-out: until the slowest subscriber has it), \`lag\`, \`queued\` |
| \`max < 1s\` | the largest sample |
| \`lost == 0\` | a counter: ${counters.map(code).join(", ")}; with ${UNITS.messages.ops.map(code).join(", ")}; \`corrupted\` needs \`checksum: true\` |
| \`failed == all\` | every message failed, as it should (\`message: limit + 1B\`): none was lost without a word |
${others.join("\n")}
| \`recovered(p99 < 100ms) < 15s\` | the same of a latency that need not hold during the fault: it has to be met again within 15 s |
| \`p99 <= baseline + 10%\` | at most 10 % slower than a baseline; of a rate \`throughput >= baseline - 5%\`; \`baseline * 1.1\` says the same |
| \`p99 <= max(baseline + 10%, baseline + 2ms)\` | the same of a latency so small that 10 % of it is noise: up to 2 ms more is allowed |`;
}

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

function table(schema: JsonSchema | undefined): string {
	const rows = fieldsOf(schema).map(([name, field]) => row(name, field));
	return ["| field | value | default | |", "|---|---|---|---|", ...rows].join("\n");
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

/** One section for each broker: what it takes. */
function systems(system: JsonSchema | undefined): string {
	const kinds = system?.anyOf?.flatMap((choice) => choice.oneOf ?? []) ?? [];
	return kinds
		.map((kind) => `### ${String(kind.properties?.broker?.const)}\n\n${table(kind)}`)
		.join("\n\n");
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

function sla(list: JsonSchema | undefined): JsonSchema | undefined {
	return list?.items?.anyOf?.find((choice) => choice.type === "object");
}

function code(value: unknown): string {
	return `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
}

function cell(text: string): string {
	return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
