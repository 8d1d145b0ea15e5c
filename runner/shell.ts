import { printable } from "./printable.ts";

/** A command to paste. Escapes control characters, such as those that end a paste. */
export function commandLine(words: readonly string[]): string {
	return printable(words.map(shellWord).join(" "));
}

/** Quotes a word for a POSIX shell if needed. % and = in front are special to some shells. */
export function shellWord(word: string): string {
	return /^[\w@+:,./-][\w@%+=:,./-]*$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
