import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseAst } from "rolldown/parseAst";
import { describe, expect, it } from "vitest";
import { BrokerName } from "./brokers/index.ts";
import { packageFolder } from "./package.ts";

/** A broker is one room: nobody else knows its name. Tests, fakes and benchmarks may. */
describe("the names of brokers", () => {
	it("stand in their rooms alone", () => {
		expect(
			sources().flatMap((file) =>
				named(file, readFileSync(path.join(packageFolder, file), "utf8")),
			),
		).toEqual([]);
	});

	it("would be found in strings, templates, keys, identifiers and imports, with a sentence that says what to do", () => {
		const code = [
			'import x from "./redis/a.ts";',
			"const natsServer = 1;",
			"const y = { kafka: 1 };",
			"const z = `on RabbitMQ`;",
			'if (y === "noop") {}',
			"// nats in a comment is fine",
			"const found = /apache.kafka/;",
		].join("\n");
		expect(named("infra/a.ts", code)).toEqual([
			"infra/a.ts:1 names redis; hand it in from runner/brokers/redis/ by a trait or a function of the contract",
			...[
				[2, "nats"],
				[3, "kafka"],
				[4, "rabbitmq"],
				[5, "noop"],
				[7, "kafka"],
			].map(
				([line, name]) =>
					`infra/a.ts:${line} names ${name}; hand it in from runner/brokers/${name}/ by a trait or a function of the contract`,
			),
		]);
	});
});

// --- internal ---

/** The list of rooms, one line each. */
const LIST = "runner/brokers/rooms.ts";

function sources(): string[] {
	const rooms = BrokerName.options.map((name) => `runner/brokers/${name}/`);
	return ["runner", "infra"]
		.flatMap((top) =>
			readdirSync(path.join(packageFolder, top), { recursive: true }).map(
				(file) => path.posix.join(top, String(file).replaceAll("\\", "/")),
			),
		)
		.filter(
			(file) =>
				file.endsWith(".ts") &&
				!/\.(test|fake|config|d)\.ts$|\/node_modules\/|\/fixtures\/|^runner\/tests\//.test(
					file,
				) &&
				file !== LIST &&
				!rooms.some((room) => file.startsWith(room)),
		);
}

/** A sentence for each line and name; comments are not in the syntax tree. */
function named(file: string, code: string): string[] {
	const found = new Map<string, number>();
	const walk = (node: unknown): void => {
		if (Array.isArray(node)) node.forEach(walk);
		if (typeof node !== "object" || node === null || Array.isArray(node))
			return;
		const words = wordsOf(node as Node).toLowerCase();
		for (const name of BrokerName.options)
			if (words.includes(name)) {
				const line = code.slice(0, (node as Node).start).split("\n").length;
				found.set(
					`${file}:${line} names ${name}; hand it in from runner/brokers/${name}/ by a trait or a function of the contract`,
					line,
				);
			}
		Object.values(node).forEach(walk);
	};
	walk(parseAst(code, { lang: "ts" }));
	return [...found].sort(([, a], [, b]) => a - b).map(([text]) => text);
}

interface Node {
	readonly type?: string;
	readonly start?: number;
	readonly name?: unknown;
	readonly value?: unknown;
	readonly regex?: { readonly pattern: string };
}

/** What a node says itself, without those below it. */
function wordsOf({ type, name, value, regex }: Node): string {
	if (type === "Identifier" || type === "PrivateIdentifier")
		return String(name);
	if (type === "Literal") return regex?.pattern ?? String(value);
	if (type === "TemplateElement")
		return (value as { readonly raw: string }).raw;
	return "";
}
