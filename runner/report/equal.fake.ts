/** For tests: the numbers of a result as they stand in a report, read from its text. Layout may change; numbers may not. */
export interface Reading {
	/** By "system, case: sla". */
	readonly gates: Map<string, Gate>;
	/** By "system, case, repeat 1": texts by figure: "response p99", "response max", "lost", "received/s", "verdict". */
	readonly runs: Map<string, Map<string, string>>;
}

export interface Gate {
	readonly verdict: string;
	readonly measured: string;
	/** null: this report has it in the line itself only. */
	readonly limit: string | null;
}

/** What a reader has to know beforehand: names may hold anything, so they are looked for, not guessed. */
export interface Known {
	readonly runs: readonly {
		readonly system: string;
		readonly case: string;
		readonly repeat: number;
		readonly main: string;
	}[];
}

export const runName = (run: Known["runs"][number]) =>
	`${run.system}, ${run.case}, repeat ${run.repeat}`;

interface Table {
	/** The text before it: what it is of. */
	readonly before: string;
	readonly head: readonly string[];
	readonly rows: readonly (readonly string[])[];
}

export function readHtml(html: string, known: Known): Reading {
	const page = html
		.replaceAll(/<(script|style)[\s\S]*?<\/\1>/g, "")
		// Intervals and notes beside a number.
		.replaceAll(/<small>[\s\S]*?<\/small>/g, "");
	const reading = empty();
	for (const [, table = ""] of page.matchAll(
		/<table[^>]*>([\s\S]*?)<\/table>/g,
	)) {
		const { head, rows } = htmlTable(table);
		if (head.includes("SLA"))
			for (const row of rows)
				addGate(reading, head, row, placeIn(row, known), "limit");
		const links = [...table.matchAll(/<tr><th[^>]*><a href="#run-(\d+)"/g)];
		if (head.includes("p50") && links.length === rows.length)
			rows.forEach((row, i) => {
				const run = known.runs[Number(links[i]?.[1]) - 1];
				if (run) addFigures(reading, run, head, row);
			});
	}
	known.runs.forEach((run, i) => {
		const from = page.indexOf(`id="run-${i + 1}"`);
		if (from < 0) return;
		const next = page.indexOf(`id="run-${i + 2}"`, from);
		const part = page.slice(from, next < 0 ? page.length : next);
		for (const [, table = ""] of part.matchAll(
			/<table[^>]*>([\s\S]*?)<\/table>/g,
		)) {
			const { head, rows } = htmlTable(table);
			if (
				head[0] === "percentile" &&
				head.includes(run.main) &&
				!head.includes("factor")
			)
				addMetrics(reading, run, head, rows);
		}
		for (const [, name = "", value = ""] of part.matchAll(
			/<dt>([\s\S]*?)<\/dt><dd>([\s\S]*?)<\/dd>/g,
		))
			add(
				reading,
				run,
				plain(name) === "received rate" ? "received/s" : plain(name),
				plain(value).replace(/\/s$/, ""),
			);
	});
	return reading;
}

export function readMarkdown(text: string, known: Known): Reading {
	const reading = empty();
	for (const { before, head, rows } of markdownTables(text)) {
		if (head.includes("SLA")) {
			for (const row of rows)
				addGate(reading, head, row, placeIn(row, known), null);
			continue;
		}
		const section =
			/<summary><b>([\s\S]*?): [A-Z]+<\/b><\/summary>(?![\s\S]*<summary>)/.exec(
				before,
			)?.[1];
		const run =
			section === undefined
				? undefined
				: known.runs.find(
						(r) =>
							titlesOf(r).includes(decoded(section)) ||
							decoded(section).startsWith(`${titlesOf(r)[1]} of `),
					);
		if (run && head.includes(run.main)) addMetrics(reading, run, head, rows);
		else if (run && head[0] === "intended")
			head.forEach((name, i) => {
				add(reading, run, name, rows[0]?.[i] ?? "");
			});
		else if (head.includes("p50") && head.includes("durability")) {
			const title = decoded(before.split("## ").at(-1)?.split("\n")[0] ?? "");
			for (const row of rows)
				for (const one of known.runs)
					if (isCase(one, title) && namesOf(one).includes(row[0] ?? ""))
						addFigures(reading, one, head, row);
		}
	}
	return reading;
}

/** Of runs; its gates are sentences, see `terminalHas`. */
export function readTerminal(text: string, known: Known): Reading {
	const reading = empty();
	const lines = text.split("\n");
	const cells = (line: string) => line.trim().split(/\s{2,}/);
	let run: Known["runs"][number] | undefined;
	let title = "";
	for (let i = 0; i < lines.length; i++) {
		const line = lines[i] ?? "";
		const [first = "", last = ""] = cells(line);
		const found = known.runs.find((r) =>
			titlesOf(r).some((t) => first === t || first.startsWith(`${t} of `)),
		);
		if (found && /^[A-Z]+$/.test(last)) run = found;
		for (const r of known.runs) if (isCase(r, line.trim())) title = r.case;
		if (/^\s+p50\s/.test(line)) {
			const head = ["", ...cells(line)];
			for (i++; /^\s+\S/.test(lines[i] ?? ""); i++) {
				const row = cells(lines[i] ?? "");
				const [name = ""] = row;
				const own = known.runs.find(
					(r) => r.case === title && namesOf(r).includes(name),
				);
				if (own) addFigures(reading, own, head, row);
				else if (run && row.length === head.length && METRICS.includes(name))
					head.forEach((p, k) => {
						if (k > 0) add(reading, run as never, `${name} ${p}`, row[k] ?? "");
					});
				else break;
			}
			i--;
		} else if (run)
			for (const cell of cells(line)) {
				const [, name, value] =
					/^([a-z][a-z ]*?) (n\/a|\d[\d ]*)$/.exec(cell) ?? [];
				if (name !== undefined && COUNTS.includes(name))
					add(reading, run, name, value ?? "");
			}
	}
	return reading;
}

/** Does the terminal say this of a gate? Its line, or, where all that passed are one line, their number. */
export function terminalHas(
	text: string,
	gate: Gate & {
		readonly sla: string;
		readonly system: string;
		readonly case: string;
	},
	known: { readonly passed: number; readonly gates: number },
): boolean {
	const flat = text.replaceAll(/\s+/g, " ");
	const where = [`${gate.system}, ${gate.case}`, gate.system, gate.case];
	const named = [
		`${gate.verdict} ${gate.sla}: ${gate.measured}`,
		...where.flatMap((w) => [
			`${gate.verdict} ${gate.sla} (${w}): ${gate.measured}`,
			`${gate.verdict} ${w}: ${gate.sla}: ${gate.measured}`,
		]),
	];
	return (
		named.some((sentence) => flat.includes(sentence)) ||
		(gate.verdict === "PASS" &&
			flat.includes(`PASS ${known.passed} of ${known.gates} gates`))
	);
}

/** Of gates: `junit.xml` holds no runs' figures. */
export function readJunit(xml: string): Reading {
	const reading = empty();
	for (const [, name = "", body = ""] of xml.matchAll(
		/<testcase name="([^"]*)"[^>]*>([\s\S]*?)<\/testcase>/g,
	)) {
		const [, measured, limit] =
			/^measured: (.*), limit: (.*)$/m.exec(plain(body)) ?? [];
		if (measured === undefined) continue;
		const type = /<(?:failure|error|skipped) type="([a-z]+)"/.exec(body)?.[1];
		reading.gates.set(decoded(name), {
			verdict: (type ?? "pass").toUpperCase(),
			measured,
			limit: limit ?? null,
		});
	}
	return reading;
}

/** Rows of the tables of a run whose first column has that name ("fault", "client"), without markup. */
export function rowsInHtml(
	html: string,
	number: number,
	first: string,
): (readonly string[])[] {
	const from = html.indexOf(`id="run-${number}"`);
	const next = html.indexOf(`id="run-${number + 1}"`, from);
	const part = html.slice(from, next < 0 ? html.length : next);
	return [...part.matchAll(/<table[^>]*>([\s\S]*?)<\/table>/g)]
		.map(([, table = ""]) => htmlTable(table))
		.filter(({ head }) => head[0] === first)
		.flatMap(({ rows }) => rows);
}

export function rowsInMarkdown(
	text: string,
	first: string,
): (readonly string[])[] {
	return markdownTables(text)
		.filter(({ head }) => head[0] === first)
		.flatMap(({ rows }) => rows);
}

// --- internal ---

const METRICS = ["response", "service", "lag", "queued", "ack", "last"];
const COUNTS = [
	"intended",
	"sent",
	"acked",
	"received",
	"lost",
	"failed",
	"unknown",
	"duplicated",
	"reordered",
	"redelivered",
	"corrupted",
	"not offered",
	"late",
];

function empty(): Reading {
	return { gates: new Map(), runs: new Map() };
}

/** A figure that stands there twice must be the same both times. */
function add(
	{ runs }: Reading,
	run: Known["runs"][number],
	figure: string,
	value: string,
): void {
	const name = runName(run);
	const figures = runs.get(name) ?? new Map<string, string>();
	runs.set(name, figures);
	const before = figures.get(figure);
	if (before !== undefined && before !== value)
		throw new Error(`${name}: ${figure} is ${before} and ${value}`);
	figures.set(figure, value);
}

/** A row of one run: its percentiles are of its main metric. */
function addFigures(
	reading: Reading,
	run: Known["runs"][number],
	head: readonly string[],
	row: readonly string[],
): void {
	head.forEach((name, i) => {
		const value = row[i];
		if (i === 0 || value === undefined) return;
		if (/^p\d|^max$/.test(name))
			add(reading, run, `${run.main} ${name}`, value);
		else if (["received/s", "lost", "verdict"].includes(name))
			add(reading, run, name, value);
	});
	// A terminal leaves the last column without a name.
	if (row.length === head.length + 1)
		add(reading, run, "verdict", row.at(-1) ?? "");
}

/** A table with a row per percentile, a column per metric. */
function addMetrics(
	reading: Reading,
	run: Known["runs"][number],
	head: readonly string[],
	rows: Table["rows"],
): void {
	for (const [label = "", ...cells] of rows)
		if (/^p\d|^max\b/.test(label))
			head.slice(1).forEach((metric, i) => {
				const value = (cells[i] ?? "").replace(/ [[(].*$/, "").trim();
				// Beside the name what it would need, beside the largest that of those that completed.
				const [name] = label.split(" ");
				add(
					reading,
					run,
					`${metric} ${name}`,
					value.replace(/ \S+ of those.*/, ""),
				);
			});
}

function addGate(
	reading: Reading,
	head: readonly string[],
	row: readonly string[],
	place: string,
	limit: string | null,
): void {
	const at = (name: string) => row[head.indexOf(name)] ?? "";
	reading.gates.set(`${place}: ${at("SLA")}`, {
		verdict: at("verdict"),
		measured: at("measured").replace(/ \[.*$/, ""),
		limit: limit === null ? null : at(limit),
	});
}

/** The system and case that a row names, in a cell or in two; with only one of them it need not. */
function placeIn(row: readonly string[], { runs }: Known): string {
	const named = runs.find(
		(run) =>
			row.includes(titlesOf(run)[0]) ||
			row.some((cell, i) => cell === run.system && row[i + 1] === run.case),
	);
	const places = new Set(runs.map((run) => titlesOf(run)[0]));
	if (named === undefined && places.size > 1)
		throw new Error(`of which system and case is ${row.join(" | ")}?`);
	return titlesOf(named ?? (runs[0] as Known["runs"][number]))[0];
}

/** Is this the title of its case's table? */
function isCase(run: Known["runs"][number], title: string): boolean {
	return title.startsWith(`${run.case}, ${run.main}`);
}

function titlesOf(run: Known["runs"][number]): [string, string] {
	const title = `${run.system}, ${run.case}`;
	return [title, `${title}, repeat ${run.repeat}`];
}

function namesOf(run: Known["runs"][number]): string[] {
	return [run.system, `${run.system} (${run.repeat})`];
}

function htmlTable(table: string): Omit<Table, "before"> {
	const cells = (row: string) =>
		[...row.matchAll(/<t[hd][^>]*>([\s\S]*?)<\/t[hd]>/g)].map(([, cell]) =>
			plain(cell ?? ""),
		);
	const [head = [], ...rows] = [
		...table.matchAll(/<tr[^>]*>([\s\S]*?)<\/tr>/g),
	].map(([, row]) => cells(row ?? ""));
	return { head, rows };
}

function markdownTables(text: string): Table[] {
	const tables: Table[] = [];
	const lines = text.split("\n");
	const cells = (line: string) =>
		line
			.slice(1, line.lastIndexOf("|"))
			.split(/(?<!\\)\|/)
			.map((cell) => unmarked(cell.trim()));
	for (let i = 0; i < lines.length; i++) {
		if (!/^\|( ---? ?-*:? ?\|)+$/.test(lines[i + 1] ?? "")) continue;
		const rows: string[][] = [];
		let end = i + 2;
		for (; lines[end]?.startsWith("|"); end++)
			rows.push(cells(lines[end] ?? ""));
		tables.push({
			before: lines.slice(0, i).join("\n"),
			head: cells(lines[i] ?? ""),
			rows,
		});
		i = end - 1;
	}
	return tables;
}

function unmarked(cell: string): string {
	// An SLA line, and beside it where it stands.
	const code = /^(`+) ?([\s\S]*?) ?\1(?: scenario\.yaml:\d+)?$/.exec(cell)?.[2];
	if (code !== undefined) return code;
	return decoded(cell.replaceAll("**", "").replaceAll(/\\(.)/g, "$1"));
}

function plain(markup: string): string {
	return decoded(markup.replaceAll(/<[^>]*>/g, "")).trim();
}

function decoded(text: string): string {
	const named: Record<string, string> = {
		lt: "<",
		gt: ">",
		quot: '"',
		amp: "&",
	};
	return text.replaceAll(/&(?:#(\d+)|(\w+));/g, (all, code, name) =>
		code === undefined
			? (named[name] ?? all)
			: String.fromCodePoint(Number(code)),
	);
}
