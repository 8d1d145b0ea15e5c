import { printable } from "./printable.ts";

/** A command for people to paste. Letters that a terminal acts upon, as what ends a paste, are written out. */
export function commandLine(words: readonly string[]): string {
	return printable(words.map(shellWord).join(" "));
}

/**
 * A word as a POSIX shell takes it, whatever it holds: in quotes where it needs them. % and = in front mean something to some
 * shells. */
export function shellWord(word: string): string {
	return /^[\w@+:,./-][\w@%+=:,./-]*$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
