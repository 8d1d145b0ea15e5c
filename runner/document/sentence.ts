/**
 * Text that begins in lower case as a sentence. What is a name keeps its first letter: a system's ("nats, 1KiB: ..."), and whatever
 * is not plainly a word ("x: ...", "p99 ...").
 */
export function sentence(text: string, names: readonly string[] = []): string {
	const [word = ""] = /^[a-z]+(?= |$|[.,])/.exec(text) ?? [];
	const name = word === "" || names.some((n) => text.startsWith(n));
	const first = name ? text.charAt(0) : text.charAt(0).toUpperCase();
	return `${first}${text.slice(1)}${/[.!?:]$/.test(text) ? "" : "."}`;
}
