/**
 * Java properties: `key=value`, `key: value` or `key value`; # and ! begin comments; a \ at the end of a line continues it, and elsewhere
 * stands before what is meant as it is. A line without a value has the value "".
 */
export function parseProperties(text: string): [key: string, value: string][] {
	return text
		.replaceAll(/(?<!\\)((?:\\\\)*)\\\r?\n[ \t\f]*/g, "$1")
		.split(/\r?\n/)
		.flatMap((line): [string, string][] => {
			const [, key = "", value = ""] =
				/^\s*((?:[^\\\s=:]|\\.)+)\s*[=:\s]?\s*(.*)$/.exec(line) ?? [];
			if (key === "" || /^[#!]/.test(key)) return [];
			return [[plain(key), plain(value.trimEnd())]];
		});
}

// --- internal ---

const LETTERS: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

function plain(text: string): string {
	return text.replaceAll(/\\(?:u([0-9a-f]{4})|(.))/gi, (_, code, letter) =>
		code ? String.fromCharCode(Number.parseInt(code, 16)) : (LETTERS[letter] ?? letter),
	);
}
