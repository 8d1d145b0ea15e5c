import { readFileSync } from "node:fs";
import path from "node:path";
import { parseAst } from "rolldown/parseAst";
import { describe, expect, it } from "vitest";
import { BrokerName } from "./brokers/index.ts";
import { CLOUDS } from "./model/targets.ts";
import { packageFolder } from "./package.ts";
import { sources } from "./sources.fake.ts";

const LIST = "runner/brokers/definitions.ts";

const others = sources().filter(
	(file) =>
		!/^runner\/(tests|tools)\//.test(file) &&
		file !== LIST &&
		// Former words, of brokers too.
		file !== "runner/text/removed.ts" &&
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

/** Rented machines have the same lifecycle in each cloud; a cloud's own code is behind infra/cloud/provider.ts. */
describe("the names of clouds", () => {
	it.each(others.filter((file) => /^infra\/cloud\/[^/]+$/.test(file)))(
		"stand in no text of the lifecycle: %s",
		(file) => {
			const texts: string[] = [];
			walk(parsed(readFileSync(path.join(packageFolder, file), "utf8")), (node) => {
				// A scenario's section and the folder have the cloud's name.
				if (!/Identifier$/.test(node.type ?? "")) texts.push(wordsOf(node));
			});
			expect(
				texts.filter((text) => CLOUDS.some((cloud) => text.includes(cloud) && !/\.ts$/.test(text))),
			).toEqual([]);
		},
	);
});

// --- internal ---

/** A sentence for each line and name; comments are not in the syntax tree. */
function named(file: string, code: string): string[] {
	const lines = new Map<string, number>();
	walk(parsed(code), (node) => {
		const words = wordsOf(node).toLowerCase();
		for (const name of BrokerName.options)
			if (words.includes(name)) {
				const line = code.slice(0, node.start).split("\n").length;
				lines.set(
					`${file}:${line} names ${name}; hand it in from runner/brokers/${name}/ by a trait or a function of the contract`,
					line,
				);
			}
	});
	return [...lines].sort(([, a], [, b]) => a - b).map(([text]) => text);
}

function parsed(code: string): unknown {
	return parseAst(code, { lang: "ts" });
}

function walk(node: unknown, visit: (node: Node) => void): void {
	if (typeof node !== "object" || node === null) return;
	if (!Array.isArray(node)) visit(node);
	for (const child of Object.values(node)) walk(child, visit);
}

interface Node {
	readonly type?: string;
	readonly start?: number;
	readonly name?: unknown;
	readonly value?: unknown;
	readonly regex?: { readonly pattern: string };
}

/** The words of a node without its children. */
function wordsOf({ type, name, value, regex }: Node): string {
	if (type === "Identifier" || type === "PrivateIdentifier") return String(name);
	if (type === "Literal") return regex?.pattern ?? String(value);
	if (type === "TemplateElement") return (value as { readonly raw: string }).raw;
	return "";
}
