/** Mistakes in settings. They are read before anything runs, so that their codes are in no result. */
export const settingMistakes = {
	"config-against-durability": (d: {
		level: string;
		really: string;
		keys: readonly string[];
	}) =>
		`durability: ${d.level} and config disagree, as with config it is ${d.really}; remove ${d.keys.join(" and ")} from config`,
	"config-line": (d: { key: string; file: string }) =>
		`config: ${JSON.stringify(d.key)} does not fit on a line of ${d.file}; use letters, digits, dots and dashes in a key, and no line break in a value`,
	"message-too-small": (bytes: number) =>
		`must be at least ${bytes}B, which number and time stamps take`,
	"secret-in-report": (d: { variable: string; key: string }) =>
		`${d.variable} sounds like a secret, and reports keep a copy of ${d.key}; write secrets in url or config`,
};
