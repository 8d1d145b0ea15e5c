import { stringify } from "yaml";
import {
	brokerOf,
	imageOf,
	noBroker,
	realBrokers,
	SystemOptions,
	type Traits,
} from "../brokers/index.ts";
import { grouped } from "../grouped.ts";
import { type Described, systems, traitsOf } from "../init/systems.ts";
import { PATTERNS } from "../model/load.ts";
import { LEVELS } from "../model/plan.ts";
import { TALLIES, Tally, UNITS } from "../model/tallies.ts";
import { SYSTEM_SETTINGS, TARGETS, type TargetName, targetTraits } from "../model/targets.ts";
import { formatBytesExact, UNIT_PATTERNS } from "../units.ts";
import { type JsonSchema, scenarioJsonSchema } from "./json-schema.ts";

/** Files with generated parts: `npm run golden` rewrites the text between `<!-- generated: NAME -->` and `<!-- end -->`. */
export const DOCUMENTS = [
	"README.md",
	"scenarios/README.md",
	"scenarios/reference.md",
	"scenarios/systems.md",
	"scenarios/where-it-runs.md",
] as const;

/** Generates from the schema and the traits that scenarios are checked against, so the text claims nothing that is then refused. */
export function withGenerated(
	text: string,
	scenarios: readonly { readonly file: string; readonly text: string }[],
): string {
	const schema = scenarioJsonSchema();
	const { workload, background, system, sla, aws, kubernetes } = schema.properties ?? {};
	const kinds = system?.anyOf?.flatMap((choice) => choice.oneOf ?? []) ?? [];
	const shared = sharedBy(kinds);
	const parts: Readonly<Record<string, string>> = {
		scenarios: questions(scenarios),
		top: fieldTable(schema, (name) => name.startsWith("clients.")),
		workload: fieldTable(workload),
		background: fieldTable(background?.additionalProperties, (name) => !OF_BACKGROUND.has(name)),
		shared: sharedTable(kinds, shared),
		systems: kinds.map((kind) => brokerSection(kind, shared)).join("\n\n"),
		lines: slaLines(),
		sla: fieldTable(sla?.items?.anyOf?.find((choice) => choice.type === "object")),
		aws: fieldTable(aws),
		kubernetes: fieldTable(kubernetes),
		brokers: brokersTable(),
		modes: systemsTable(),
		targets: targetsTable(),
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
			["system", "in a scenario", "promises", "largest message", "cannot do"],
			all.map(({ written, traits }) => [
				traits.title,
				code(written),
				`${promised(traits)}${traits.ordered ? ", in order" : ""}`,
				traits.maxMessageBytes === null ? "no limit" : formatBytesExact(traits.maxMessageBytes),
				PATTERNS.filter((p) => traits.cannot[p] !== undefined).join(", ") || "-",
			]),
		),
		"",
		"What `durability` guarantees for an acknowledged message, and which broker settings mqbench uses for it:",
		"",
		table(["system", ...LEVELS.map(code), "without a level"], stores(all)),
	].join("\n");
}

/** For `target: local` and `target: docker`. */
export function brokersTable(): string {
	return table(
		["broker", "with `target: local`", "with `target: docker`", "nodes"],
		realBrokers.map((broker) => {
			const { install, image } = brokerOf({ broker });
			const options = SystemOptions.parse({ broker });
			return [
				code(broker),
				install?.from ?? "",
				image === null ? "-" : code(imageOf({ image: null, options })),
				EITHER.format(traitsOf({ broker }).nodes.map(String)),
			];
		}),
	);
}

// --- internal ---

const EITHER = new Intl.ListFormat("en-GB", { type: "disjunction" });

const WHERE: Readonly<Record<TargetName, string>> = {
	local: "processes on this machine, new for each run",
	docker: "containers on this machine, new for each run",
	existing: "your servers",
	aws: "rented EC2 instances; new brokers for each run",
	kubernetes: "pods of a cluster that `kubectl` reaches, new for each run",
};

function targetsTable(): string {
	return table(
		["target", "brokers are", "a system may have"],
		TARGETS.map((target) => {
			const { without } = targetTraits(target);
			const has = SYSTEM_SETTINGS.filter((setting) => without[setting] === undefined);
			return [code(target), WHERE[target], has.map(code).join(", ")];
		}),
	);
}

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
			lines.set(key, [
				title,
				...LEVELS.map((level) => levels[level] ?? "-"),
				ownDurability.replace("the server's own; one that mqbench starts: ", ""),
			]);
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
	return `| line | what must hold |
|---|---|
| \`p99 < 20ms\` | 99 % of the response times, counted from the intended time, are below 20 ms |
| \`service p99.9 <= 5ms\` | the same for another metric: \`response\`, \`service\` (from the send call), \`ack\` (until the acknowledgement), \`last\` (fan-out: until the slowest subscriber has it), \`lag\`, \`queued\` |
| \`max < 1s\` | the largest response time |
| \`lost == 0\` | a counter: ${counters.map(code).join(", ")}; with ${UNITS.messages.ops.map(code).join(", ")}; \`corrupted\` needs \`checksum: true\` |
| \`failed == all\` | every message was refused (\`message: limit + 1B\`), and none was lost silently |
${others.join("\n")}
| \`recovered(p99 < 100ms) < 15s\` | the same for this latency, which need not hold during the fault |
| \`p99 <= baseline + 10%\` | at most 10 % slower than the baseline (also \`baseline * 1.1\`); for a rate: \`throughput >= baseline - 5%\` |
| \`p99 <= max(baseline + 10%, baseline + 2ms)\` | at most 10 % or 2 ms slower, whichever is more; for small latencies |`;
}

/** A scenario's opening comment starts with the question that it answers. */
function questions(scenarios: readonly { readonly file: string; readonly text: string }[]): string {
	return scenarios
		.map(({ file, text }) => {
			const comment = /^(# .*\n)*/.exec(text.replace(/^# yaml-language-server.*\n/, ""))?.[0] ?? "";
			const words = comment.replaceAll(/^# /gm, "").replaceAll("\n", " ");
			return `- [${file.replace(".yaml", "")}](${file}): ${/^[^?]*\?/.exec(words)?.[0] ?? QUICKSTART}`;
		})
		.join("\n");
}

const QUICKSTART = "Does everything work on this machine?";

/** Described in their own section. */
const ELSEWHERE = ["aws", "cases", "kubernetes", "matrix", "sla", "systems", "workload"];

/** The others are the workload's. */
const OF_BACKGROUND: ReadonlySet<string> = new Set(["start", "end"]);

function fieldTable(
	schema: JsonSchema | undefined,
	leaveOut: (name: string) => boolean = () => false,
) {
	const fields = fieldsOf(schema).filter(([name]) => !leaveOut(name));
	return rows(fields.map(([name, field]) => ({ name, field, remark: "" })));
}

/** Fields that several brokers have, with the same description. */
function sharedBy(kinds: readonly JsonSchema[]): Map<string, readonly string[]> {
	const brokers = grouped(
		kinds.flatMap((kind) =>
			Object.entries(kind.properties ?? {}).map(([name, field]) => ({
				what: `${name} ${field.description}`,
				name,
				broker: brokerIn(kind),
			})),
		),
		({ what }) => what,
	);
	return new Map(
		[...brokers.values()].flatMap((all) =>
			all.length > 1 ? [[all[0]?.name ?? "", all.map(({ broker }) => broker)] as const] : [],
		),
	);
}

/** `port`, `version` and `config` differ from broker to broker: their examples are in its section. */
function sharedTable(kinds: readonly JsonSchema[], shared: ReturnType<typeof sharedBy>): string {
	const real = kinds.map(brokerIn).filter((broker) => broker !== noBroker);
	const all = [...shared].flatMap(([name, having]) => {
		const kind = kinds.find((one) => brokerIn(one) === having[0]);
		const others = real.filter((broker) => !having.includes(broker));
		const few = others.length > having.length ? having : others;
		const remark =
			others.length === 0 ? "" : `(${few === others ? "not " : "only "}${few.join(", ")}) `;
		return fieldsOf(kind)
			.filter(([field]) => field.replace(/\..*/, "") === name)
			.map(([field, schema]) => {
				const { examples, ...bare } = schema;
				return {
					name: field,
					field: OWN_EXAMPLES.includes(field) ? { ...bare } : schema,
					remark: field === name ? remark : "",
				};
			});
	});
	return rows(all);
}

const OWN_EXAMPLES = ["port", "version", "config"];

function brokerSection(kind: JsonSchema, shared: ReturnType<typeof sharedBy>): string {
	const broker = brokerIn(kind);
	const examples = OWN_EXAMPLES.flatMap((name) => {
		const [example] = kind.properties?.[name]?.examples ?? [];
		return example === undefined ? [] : [`${name}: ${flow(example)}`];
	});
	const own = fieldTable(
		kind,
		(name) => name === "broker" || shared.get(name.replace(/\..*/, ""))?.includes(broker) === true,
	);
	return [
		`### ${broker}`,
		kind.properties?.broker?.description,
		...(examples.length > 0 ? [`Examples: ${examples.map(code).join(", ")}.`] : []),
		...(own.includes("\n", own.indexOf("\n") + 1) ? [own] : []),
	].join("\n\n");
}

function brokerIn(kind: JsonSchema): string {
	return String(kind.properties?.broker?.const);
}

/** A description ends with the default, unless the schema has it. */
function rows(
	fields: readonly { readonly name: string; readonly field: JsonSchema; readonly remark: string }[],
): string {
	return table(
		["field", "type", "default", "example", "meaning"],
		fields.map(({ name, field, remark }) => {
			const [meaning = "", said] = (field.description ?? "").split(/(?:^| )Default: /);
			const fallback = said?.replace(/\.$/, "");
			const isPlain = field.default !== undefined && typeof field.default !== "object";
			return [
				code(name),
				typeOf(field),
				isPlain
					? code(field.default)
					: !fallback
						? ""
						: /\s/.test(fallback)
							? cell(fallback)
							: code(fallback.replaceAll("`", "")),
				ELSEWHERE.includes(name) || field.enum ? "" : examplesOf(field),
				cell(remark + meaning),
			];
		}),
	);
}

/** Broker names have sections of their own. */
const MANY = 8;

function typeOf({ const: only, enum: choices, anyOf, oneOf, pattern, type }: JsonSchema): string {
	if (only !== undefined) return code(only);
	if (choices && choices.length > MANY) return "string";
	if (choices) return [...new Set(choices.map(code))].join(", ");
	if (anyOf) return [...new Set(anyOf.map(typeOf))].join(" or ");
	const unit = Object.entries(UNIT_PATTERNS).find(([, one]) => String(pattern).startsWith(one));
	return (
		unit?.[0] ?? { array: "list", object: "map" }[type ?? ""] ?? type ?? (oneOf ? "map" : "string")
	);
}

function examplesOf({ examples = [], default: standard }: JsonSchema): string {
	return examples
		.filter((one) => one !== standard)
		.slice(0, 1)
		.map((one) => code(flow(one)))
		.join(", ");
}

function flow(value: unknown): string {
	return stringify(value, {
		collectionStyle: "flow",
		flowCollectionPadding: false,
		lineWidth: 0,
	}).trim();
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
