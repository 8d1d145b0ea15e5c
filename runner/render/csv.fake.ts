/** For tests: RFC 4180 read letter by letter, sharing nothing with the writer. Throws where the standard has no answer. */
export function parseCsv(text: string): string[][] {
	const rows: string[][] = [];
	let row: string[] = [];
	let at = 0;
	while (at < text.length) {
		let value = "";
		if (text[at] === '"') {
			for (at++; ; at++) {
				if (at >= text.length) throw new Error("a quote is not closed");
				if (text[at] !== '"') value += text[at];
				else if (text[at + 1] === '"') {
					value += '"';
					at++;
				} else break;
			}
			at++;
		} else
			while (at < text.length && text[at] !== "," && text[at] !== "\r") {
				if (text[at] === '"' || text[at] === "\n")
					throw new Error(`${JSON.stringify(text[at])} without quotes`);
				value += text[at++];
			}
		row.push(value);
		if (text[at] === ",") at++;
		else if (text.startsWith("\r\n", at)) {
			rows.push(row);
			row = [];
			at += 2;
		} else throw new Error(`neither comma nor CRLF at ${at}`);
	}
	if (row.length > 0) throw new Error("the last line has no end");
	return rows;
}

/** For tests: the rows as objects by the names in the first one. */
export function rowsOfCsv(text: string): Record<string, string>[] {
	const [names = [], ...rows] = parseCsv(text);
	return rows.map((row) => {
		if (row.length !== names.length)
			throw new Error(`${row.length} cells below ${names.length} names`);
		return Object.fromEntries(names.map((name, i) => [name, row[i] ?? ""]));
	});
}
