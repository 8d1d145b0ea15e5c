import { imageOf } from "../brokers/image.ts";
import {
	type BrokerName,
	brokerOf,
	realBrokers,
	SystemOptions,
	type Traits,
} from "../brokers/index.ts";
import { PATTERNS } from "../model/pattern.ts";
import { LEVELS } from "../model/plan.ts";
import { formatBytesExact } from "../units.ts";

/** What stands between these lines in {@link SYSTEM_TABLES} is written by `npm run golden`. */
export const TABLE_BEGIN = "<!-- systems: generated from runner/brokers/ by `npm run golden` -->";
export const TABLE_END = "<!-- end of systems -->";

/** The files with tables of systems, and what stands there. */
export const SYSTEM_TABLES: Readonly<Record<string, () => string>> = {
	"README.md": brokersTable,
	"scenarios/systems.md": systemsTable,
};

/** The systems in their modes, from the traits that scenarios are checked against, so that nothing is claimed that is then refused. */
export function systemsTable(): string {
	const all = systems();
	return [
		row("system", "in a scenario", "acknowledges", "promises", "largest message", "cannot do"),
		"|---|---|---|---|---|---|",
		...all.map(({ written, traits }) =>
			row(
				traits.title,
				`\`${written}\``,
				traits.acks ? "each message" : "nothing",
				`${promised(traits)}${traits.ordered ? ", in order" : ""}`,
				traits.maxMessageBytes === null ? "no limit" : formatBytesExact(traits.maxMessageBytes),
				PATTERNS.filter((p) => traits.cannot[p] !== undefined).join(", ") || "-",
			),
		),
		"",
		"What an acknowledged message has been through, by `durability`, and what mqbench sets for it:",
		"",
		row("system", ...LEVELS.map((level) => `\`${level}\``), "without a level"),
		"|---|---|---|---|---|---|",
		...stores(all),
	].join("\n");
}

/** What `target: local` and `target: docker` run. */
export function brokersTable(): string {
	return [
		row("broker", "local, from", "docker, image", "nodes"),
		"|---|---|---|---|",
		...realBrokers.map((broker) => {
			const { install, image } = brokerOf({ broker });
			const options = SystemOptions.parse({ broker });
			return row(
				`\`${broker}\``,
				install?.from ?? "",
				image === null ? "-" : `\`${imageOf({ image: null, options })}\``,
				traitsOf({ broker }).nodes.join(" or "),
			);
		}),
	].join("\n");
}

/** A broker in one of its modes. */
export interface Described {
	/** The broker. */
	readonly name: BrokerName;
	/** One word for it: the broker as it comes, or "broker-mode". */
	readonly word: string;
	/** "{ broker: ..., mode: ... }" */
	readonly written: string;
	readonly traits: Traits;
}

/** Every broker, once for each kind of system that it can be; the one without an option comes first. */
export function systems(): Described[] {
	return realBrokers.flatMap((name) => {
		const own = traitsOf({ broker: name });
		const described = kindsOf(name).map(([key, value]): Described => {
			const traits = traitsOf({ broker: name, [key]: value });
			const [word, option] =
				traits.title === own.title ? [name, ""] : [`${name}-${value}`, `, ${key}: ${value}`];
			return { name, word, written: `{ broker: ${name}${option} }`, traits };
		});
		if (described.length > 0) return described;
		return [{ name, word: name, written: `{ broker: ${name} }`, traits: own }];
	});
}

/** "at-least-once; a consumer alone: at-most-once". */
function promised({ delivery, deliveryAlone: alone }: Traits): string {
	return alone === undefined || alone === delivery
		? delivery
		: `${delivery}; a consumer alone: ${alone}`;
}

// --- internal ---

/** Options that make another system of a broker: another promise, another place for messages. */
const KINDS = ["mode", "queue"] as const;

function kindsOf(name: BrokerName): [string, string][] {
	const fields = brokerOf({ broker: name }).options.toJSONSchema({ io: "input" })
		.properties as Record<string, { enum?: string[] }>;
	return KINDS.flatMap((key) =>
		(fields[key]?.enum ?? []).map((value): [string, string] => [key, value]),
	);
}

function traitsOf(options: Record<string, unknown>): Traits {
	const parsed = SystemOptions.parse(options);
	return brokerOf(parsed).traits(parsed);
}

/** One line for the systems of a broker that have the same levels. */
function stores(all: readonly Described[]): string[] {
	const lines = new Map<string, { titles: string[]; traits: Traits }>();
	for (const { name, traits } of all) {
		if (Object.keys(traits.levels).length === 0) continue;
		const key = `${name} ${JSON.stringify(traits.levels)}`;
		const line = lines.get(key) ?? { titles: [], traits };
		line.titles.push(traits.title);
		lines.set(key, line);
	}
	return [...lines.values()].map(({ titles, traits }) =>
		row(
			titles.join(", "),
			...LEVELS.map((level) => traits.levels[level] ?? "-"),
			traits.ownDurability,
		),
	);
}

function row(...cells: readonly string[]): string {
	return `| ${cells.join(" | ")} |`;
}
