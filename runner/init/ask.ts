import { failure } from "../errors.ts";
import type { World } from "../world.ts";
import { type Answers, type Question, questions } from "./answers.ts";

/** Answers come from the arguments, a terminal, a pipe's next line or the default, in this order. Prints defaults that it took unasked. */
export async function answersOf(
	args: Partial<Record<keyof Answers, string>> & { readonly yes?: boolean | undefined },
	missing: readonly string[],
	world: World,
): Promise<Answers> {
	const known: Record<string, string> = {};
	let any = false;
	const defaults: string[] = [];
	for (const question of questions) {
		const { key, about, otherwise } = question;
		const given = args[key];
		const wrong = given === undefined ? undefined : question.wrong(given, known);
		if (wrong !== undefined) throw failure("usage", { message: `--${key}: ${wrong}` });
		const answer = given ?? (args.yes ? null : await answered(question, known, missing, world));
		known[key] = answer ?? otherwise;
		if (answer === null && otherwise !== "") defaults.push(`${about} ${otherwise}`);
		any ||= given === undefined && answer !== null;
	}
	if (defaults.length > 0 && !args.yes)
		world.stderr.write(
			`${any ? "No more answers" : "No answers on standard input"}. Using the defaults: ${defaults.join(", ")}\n`,
		);
	return known as unknown as Answers;
}

// --- internal ---

/** Returns null at the end of input. */
async function answered(
	question: Question,
	known: Partial<Answers>,
	missing: readonly string[],
	world: World,
): Promise<string | null> {
	const { otherwise } = question;
	const shown = otherwise === "" ? "" : ` [${otherwise}]`;
	const text = `${question.ask(known, missing)}${shown}: `;
	for (;;) {
		const line = world.ask ? await world.ask(text) : ((await world.nextLine?.()) ?? null);
		if (line === null) return null;
		const answer = line.trim() === "" ? otherwise : line.trim();
		if (!world.ask) world.stderr.write(`${text}${answer}\n`);
		const wrong = question.wrong(answer, known);
		if (wrong === undefined) return answer;
		if (!world.ask) throw failure("usage", { message: wrong });
		world.stderr.write(`${wrong}\n`);
	}
}
