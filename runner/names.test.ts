import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { BrokerName } from "./brokers/index.ts";
import { COMMANDS } from "./main.ts";
import { packageFolder } from "./package.ts";
import { type Node, nodesOf, sources } from "./sources.fake.ts";

const LIST = "runner/brokers/definitions.ts";

const others = sources().filter(
	(file) =>
		!/^runner\/(tests|tools)\//.test(file) &&
		file !== LIST &&
		!BrokerName.options.some((name) => file.startsWith(`runner/brokers/${name}/`)),
);

/** Only a broker's own definition names it; tests, fakes and benchmarks may too. */
describe("the names of brokers", () => {
	it("stand in their definitions alone", () => {
		expect(
			others.flatMap((file) => named(file, readFileSync(path.join(packageFolder, file), "utf8"))),
		).toEqual([]);
	});

	it("would be found in strings, templates, keys, identifiers and imports, with a sentence that says what to do", () => {
		const code = [
			'import x from "./redis/a.ts";',
			"const natsServer = { kafka: 1 };",
			"const z = `on RabbitMQ`;",
			"// nsq in a comment is fine",
			"const found = /apache.kafka/;",
		].join("\n");
		expect(named("infra/a.ts", code)).toEqual(
			["1 redis", "2 nats", "2 kafka", "3 rabbitmq", "5 kafka"].map((found) => {
				const [line, name] = found.split(" ");
				return `infra/a.ts:${line} names ${name}; hand it in from runner/brokers/${name}/ by a trait or a function of the contract`;
			}),
		);
	});
});

describe("commands that sentences show", () => {
	const bare = new RegExp(
		`(?<!npx |have )\\bmqbench (?:(?:${Object.keys(COMMANDS).join("|")})\\b|--help)`,
	);
	// Results and reports are stored and published with their sentences.
	const shown = others.filter((file) => !/^runner\/(verdict|result|document|page)\//.test(file));

	it("work in a clone: npx mqbench", () => {
		expect(
			shown.filter((file) =>
				nodesOf(readFileSync(path.join(packageFolder, file), "utf8")).some((node) =>
					bare.test(wordsOf(node)),
				),
			),
		).toEqual([]);
	});
});

// --- internal ---

/** A sentence for each line and name; comments are not in the syntax tree. */
function named(file: string, code: string): string[] {
	const lines = new Map<string, number>();
	for (const node of nodesOf(code)) {
		const words = wordsOf(node).toLowerCase();
		for (const name of BrokerName.options)
			if (words.includes(name)) {
				const line = code.slice(0, node.start).split("\n").length;
				lines.set(
					`${file}:${line} names ${name}; hand it in from runner/brokers/${name}/ by a trait or a function of the contract`,
					line,
				);
			}
	}
	return [...lines].sort(([, a], [, b]) => a - b).map(([text]) => text);
}

/** The words of a node without its children. */
function wordsOf({ type, name, value, regex }: Node): string {
	if (type === "Identifier" || type === "PrivateIdentifier") return String(name);
	if (type === "Literal") return regex?.pattern ?? String(value);
	if (type === "TemplateElement") return (value as { readonly raw: string }).raw;
	return "";
}
