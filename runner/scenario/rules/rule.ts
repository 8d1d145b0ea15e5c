import type { Said } from "../../text/say.ts";
import { type Telling, type Told, tell } from "../../text/tell.ts";
import type { Path, Problem } from "../problem.ts";

/**
 * How every rule tells what may not go together: the field at fault (or what is below it), and the sentence with its values. What comes after
 * the first of a field follows from that, and is left out.
 */
export interface Wrong<Key extends string = string> {
	<C extends Told>(place: Place<Key>, code: C, ...values: Telling<C>): void;
	(place: Place<Key>, said: Sentence): void;
}
type Place<Key> = Key | readonly [Key, ...Path];
type Sentence = Pick<Said, "text"> & { readonly code?: string };

/** What a check finds, where the file has the field. */
export function problemsBy<Key extends string>(
	check: (wrong: Wrong<Key>) => void,
	where: (key: Key) => Path = (key) => [key],
): Problem[] {
	const found = new Map<Key, Problem>();
	check((place: Place<Key>, sentence: Told | Sentence, ...values: unknown[]) => {
		const [key, ...below] = typeof place === "string" ? [place] : place;
		const { text, ...code } =
			typeof sentence === "string"
				? { code: sentence, text: tell(sentence, ...(values as Telling<Told>)) }
				: sentence;
		if (!found.has(key))
			found.set(key, { path: [...where(key), ...below], at: "value", message: text, ...code });
	});
	return [...found.values()];
}

/** Tells the first alone: others would follow from it. */
export function firstOf<Key extends string>(wrong: Wrong<Key>): Wrong<Key> {
	let told = false;
	return (...all: Parameters<Wrong<Key>>) => {
		if (!told) wrong(...all);
		told = true;
	};
}

/** Sentences one after the other: the first has the code. */
export function together(first: Said, ...others: readonly Said[]): { code: string; text: string } {
	return { code: first.code, text: [first, ...others].map(({ text }) => text).join("; ") };
}
