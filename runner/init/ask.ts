import { failure } from "../errors.ts";
import type { World } from "../world.ts";
import { type Answers, type Question, questions } from "./answers.ts";

/**
 * An answer to every question: as it was given, else asked for at a terminal, else the next line of what is piped, else the default. Says
 * which defaults it took unasked. `missing`: brokers that cannot be started on this machine.
 */
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

/** null: nobody answers. */
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
		// The next line of a pipe answers the next question.
		if (!world.ask) throw failure("usage", { message: wrong });
		world.stderr.write(`${wrong}\n`);
	}
}
