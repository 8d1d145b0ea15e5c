import type { Command } from "commander";
import { EXIT, type ExitCode, failure } from "../errors.ts";
import { type TopicName, topicNames, topics } from "../explain/topics.ts";
import type { World } from "../world.ts";
import type { Invocation } from "./options.ts";

export function declare(program: Command, { world, exit }: Invocation): void {
	program
		.command("explain")
		.description(
			`explain a word of the reports, e.g. ${topicNames.slice(0, 4).join(", ")}`,
		)
		.argument("[topic]", "without a topic: list all of them")
		.action(async (topic: string | undefined) =>
			exit(await explain({ topic }, world)),
		);
}

export interface ExplainArgs {
	/** undefined: the list of topics. */
	readonly topic?: string | undefined;
}

/** `mqbench explain`: the idea behind a word of the reports, or the list of those that there are. */
export async function explain(
	{ topic }: ExplainArgs,
	world: World,
): Promise<ExitCode> {
	if (topic === undefined) world.stdout.write(list());
	else if (isTopic(topic))
		world.stdout.write(topics[topic].text.replace(/^\n/, ""));
	else throw failure("unknown-topic", { topic, known: topicNames });
	return EXIT.pass;
}

// --- internal ---

function isTopic(word: string): word is TopicName {
	return (topicNames as string[]).includes(word);
}

function list(): string {
	const width = Math.max(...topicNames.map((name) => name.length));
	const lines = topicNames.map(
		(name) => `  mqbench explain ${name.padEnd(width)}  ${topics[name].title}`,
	);
	return `${lines.join("\n")}\n`;
}
