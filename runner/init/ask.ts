import { failure } from "../errors.ts";
import type { World } from "../world.ts";
import { type Answers, questions } from "./answers.ts";

/** An answer to every question: as it was given, else as it is offered (`yes`, or nobody to ask), else asked for. */
export async function answersOf(
	args: Partial<Record<keyof Answers, string>> & {
		readonly yes?: boolean | undefined;
	},
	world: World,
): Promise<Answers> {
	const known: Record<string, string> = {};
	for (const question of questions) {
		const given = args[question.key];
		const wrong =
			given === undefined ? undefined : question.wrong(given, known);
		if (wrong !== undefined)
			throw failure("usage", { message: `--${question.key}: ${wrong}` });
		known[question.key] =
			given ??
			(args.yes || world.ask === null
				? question.otherwise
				: await asked(question, known, world.ask, world));
	}
	return known as unknown as Answers;
}

// --- internal ---

async function asked(
	question: (typeof questions)[number],
	known: Partial<Answers>,
	ask: NonNullable<World["ask"]>,
	world: World,
): Promise<string> {
	for (;;) {
		const shown = question.otherwise === "" ? "" : ` [${question.otherwise}]`;
		const line = (await ask(`${question.ask(known)}${shown}: `)).trim();
		const answer = line === "" ? question.otherwise : line;
		const wrong = question.wrong(answer, known);
		if (wrong === undefined) return answer;
		world.stderr.write(`${wrong}\n`);
	}
}
