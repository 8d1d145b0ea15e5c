import { brokerOf, imageOf, realBrokers, SystemOptions, type Traits } from "../brokers/index.ts";
import { type Described, systems, traitsOf } from "../init/systems.ts";
import { PATTERNS } from "../model/load.ts";
import { LEVELS } from "../model/plan.ts";
import { TALLIES, Tally, UNITS } from "../model/tallies.ts";
import { formatBytesExact } from "../units.ts";
import { type JsonSchema, scenarioJsonSchema } from "./json-schema.ts";

/** Files with generated parts: `npm run golden` rewrites what is between `<!-- generated: NAME -->` and `<!-- end -->`. */
export const DOCUMENTS = ["README.md", "scenarios/README.md", "scenarios/systems.md"] as const;

/** Generates from the schema and the traits that scenarios are checked against, so the text claims nothing that is then refused. */
export function withGenerated(
	text: string,
	scenarios: readonly { readonly file: string; readonly text: string }[],
): string {
	const schema = scenarioJsonSchema();
	const { workload, system, sla, aws, kubernetes } = schema.properties ?? {};
	const kinds = system?.anyOf?.flatMap((choice) => choice.oneOf ?? []) ?? [];
	const parts: Readonly<Record<string, string>> = {
		scenarios: questions(scenarios),
		top: fieldTable(schema),
		workload: fieldTable(workload),
		systems: kinds
			.map((kind) => `### ${String(kind.properties?.broker?.const)}\n\n${fieldTable(kind)}`)
			.join("\n\n"),
		lines: slaLines(),
		sla: fieldTable(sla?.items?.anyOf?.find((choice) => choice.type === "object")),
		aws: fieldTable(aws),
		kubernetes: fieldTable(kubernetes),
		brokers: brokersTable(),
		modes: systemsTable(),
	};
	return text.replaceAll(
		/(<!-- generated: (\w+) -->\n)[\s\S]*?(?=<!-- end -->)/g,
		(_, begin: string, part: string) => `${begin}\n${parts[part]}\n\n`,
	);
}

export function systemsTable(): string {
	const all = systems();
	return [
		table(
			["system", "in a scenario", "acknowledges", "promises", "largest message", "cannot do"],
			all.map(({ written, traits }) => [
				traits.title,
				code(written),
				traits.acks ? "each message" : "nothing",
				`${promised(traits)}${traits.ordered ? ", in order" : ""}`,
				traits.maxMessageBytes === null ? "no limit" : formatBytesExact(traits.maxMessageBytes),
				PATTERNS.filter((p) => traits.cannot[p] !== undefined).join(", ") || "-",
			]),
		),
		"",
		"What an acknowledged message has been through, by `durability`, and what mqbench sets for it:",
		"",
		table(["system", ...LEVELS.map(code), "without a level"], stores(all)),
	].join("\n");
}

/** For `target: local` and `target: docker`. */
export function brokersTable(): string {
	return table(
		["broker", "local, from", "docker, image", "nodes"],
		realBrokers.map((broker) => {
			const { install, image } = brokerOf({ broker });
			const options = SystemOptions.parse({ broker });
			return [
				code(broker),
				install?.from ?? "",
				image === null ? "-" : code(imageOf({ image: null, options })),
				traitsOf({ broker }).nodes.join(" or "),
			];
		}),
	);
}

// --- internal ---

/** "at-least-once; a consumer alone: at-most-once". */
function promised({ delivery, deliveryAlone: alone }: Traits): string {
	return alone === undefined || alone === delivery
		? delivery
		: `${delivery}; a consumer alone: ${alone}`;
}

/** One line for a broker's systems with the same levels. */
function stores(all: readonly Described[]): string[][] {
	const lines = new Map<string, string[]>();
	for (const { name, traits } of all) {
		const { title, levels, ownDurability } = traits;
		const key = `${name} ${JSON.stringify(levels)}`;
		const [titles, ...cells] = lines.get(key) ?? [];
		if (titles !== undefined) lines.set(key, [`${titles}, ${title}`, ...cells]);
		else if (Object.keys(levels).length > 0)
			lines.set(key, [title, ...LEVELS.map((level) => levels[level] ?? "-"), ownDurability]);
	}
	return [...lines.values()];
}

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

/** A scenario's opening comment starts with the question that it answers. */
function questions(scenarios: readonly { readonly file: string; readonly text: string }[]): string {
	return table(
		["file", "the question it answers"],
		scenarios.map(({ file, text }) => {
			const comment = /^(# .*\n)*/.exec(text.replace(/^# yaml-language-server.*\n/, ""))?.[0] ?? "";
			const words = comment.replaceAll(/^# /gm, "").replaceAll("\n", " ");
			return [`[${file}](${file})`, cell(/^[^?]*\?/.exec(words)?.[0] ?? QUICKSTART)];
		}),
	);
}

const QUICKSTART = "Does everything work on this machine? 15 seconds.";

/** These fields have their own section. */
const ELSEWHERE = ["aws", "cases", "kubernetes", "matrix", "sla", "systems", "workload"];

function fieldTable(schema: JsonSchema | undefined): string {
	return table(
		["field", "value", "default", "meaning"],
		fieldsOf(schema).map(([name, field]) => {
			const hasDefault = field.default !== undefined && !Array.isArray(field.default);
			const value = values(field, ["cases", "systems"].includes(name));
			return [
				code(name),
				value,
				hasDefault ? code(field.default) : "",
				cell(field.description ?? ""),
			];
		}),
	);
}

/** The choices, else examples, else the kind of value. */
function values(field: JsonSchema, skipExamples: boolean): string {
	if (field.const !== undefined) return code(field.const);
	if (field.enum) return [...new Set(field.enum.map(code))].join(", ");
	if (field.examples && !skipExamples) return shown(field.examples).map(code).join(", ");
	if (field.type === "boolean") return "`true`, `false`";
	return { array: "a list", object: "a map" }[field.type ?? ""] ?? "text";
}

/** Shows a list of strings as its strings. */
function shown(examples: readonly unknown[]): readonly unknown[] {
	return examples.every(
		(one) => Array.isArray(one) && one.every((item) => typeof item === "string"),
	)
		? examples.flat()
		: examples;
}

/** Adds the fields of nested maps: "brokers.instance", "faults[].at". A required map is not a row. */
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

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
	const lines = [heads, ...rows].map((cells) => `| ${cells.join(" | ")} |`);
	lines.splice(1, 0, `|${"---|".repeat(heads.length)}`);
	return lines.join("\n");
}

function code(value: unknown): string {
	return `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
}

function cell(text: string): string {
	return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
