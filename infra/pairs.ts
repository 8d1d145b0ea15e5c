/** Lines "name=value", by name. */
export function pairsIn(lines: readonly string[]): Record<string, string> {
	return Object.fromEntries(
		lines.map((line) => {
			const at = line.indexOf("=");
			return [line.slice(0, at), line.slice(at + 1)];
		}),
	);
}
