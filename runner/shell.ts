/**
 * A word as a POSIX shell takes it, whatever it holds: in quotes where it needs them. % and = in front mean something to some
 * shells. */
export function shellWord(word: string): string {
	return /^[\w@+:,./-][\w@%+=:,./-]*$/.test(word)
		? word
		: `'${word.replaceAll("'", "'\\''")}'`;
}
