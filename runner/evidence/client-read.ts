import { basename, join } from "node:path";
import { sizeOfGiven } from "../given-folder.ts";
import { type LogFile, lines as linesOf } from "../histogram/log-file.ts";
import { ClientFileLine } from "../model/client-file.ts";
import { lineParser } from "./json.ts";
import { readLedger } from "./ledger-bits.ts";
import { hlogTrailer, jsonlTrailer } from "./trailer.ts";

export type ClientFiles = ReturnType<typeof readClient>;
/** complete and interrupted: all trailers exist and match. broken: `lines` has the readable ones. */
type State = "complete" | "interrupted" | "broken" | "missing";

/**
 * Reads a client's files, or the `.part` files of a dead k6. `ledger`: messages cross from client to client, so a `.ledger` must exist.
 * `completions`: keeps those lines, most of a long run's file. `name`: the client's, for messages.
 */
export function readClient(
	folder: string,
	index: number,
	{ ledger = false, completions = true, name: called = null as string | null } = {},
) {
	const name = `client-${index}`;
	const who = whoIs(index, called);
	const jsonl = clientFile(folder, `${name}.jsonl`);
	const hlog = clientFile(folder, `${name}.hlog`);
	const isMissing = jsonl === null && hlog === null;
	const problems: string[] = isMissing ? [`${who} has left no files`] : [];
	const attempt = <T>(what: string, read: () => T): T | null => {
		try {
			return read();
		} catch (error) {
			problems.push(`${ofFile(index, called)}${what} ${(error as Error).message}`);
			return null;
		}
	};
	if (!isMissing && (jsonl?.part !== false || hlog?.part !== false))
		problems.push(`${who} ended before its result was complete; its figures until then are shown`);
	const endOf = <T>(file: typeof hlog, read: (path: string) => T) =>
		file?.part === false ? attempt(basename(file.path), () => read(file.path)) : null;
	const [jsonlEnd, hlogEnd] = [endOf(jsonl, jsonlTrailer), endOf(hlog, hlogTrailer)];
	if (jsonlEnd && hlogEnd && jsonlEnd.hlog.sha256 !== hlogEnd.sha256)
		problems.push(`${ofFile(index, called)}${name}.hlog and ${name}.jsonl are not of the same run`);
	const path = join(folder, `${name}.ledger`);
	const exists = ledger && sizeOfGiven(path) !== null;
	if (ledger && !exists)
		problems.push(
			`${ofFile(index, called)}${name}.ledger is missing: which messages it sent and received is not known`,
		);
	const sets = exists ? attempt(`${name}.ledger`, () => readLedger(path)) : null;
	const how = { tolerant: jsonlEnd === null, completions };
	const lines = jsonl && attempt(`${name}.jsonl`, () => parseAll(linesOf(jsonl), how));
	const stopped = jsonlEnd?.state === "interrupted" || hlogEnd?.state === "interrupted";
	const whole: State = stopped ? "interrupted" : "complete";
	const state = isMissing ? "missing" : problems.length > 0 ? "broken" : whole;
	return {
		index,
		state: state as State,
		/** Why a client is broken or missing. */
		problem: problems[0] ?? null,
		lines: lines ?? [],
		logs: [hlogEnd?.body ?? hlog].filter((log): log is LogFile => log !== null),
		/** Which messages it sent and received, if asked for and readable. */
		ledger: sets,
	};
}

/** "client 1 (bench@10.0.0.11)", or without a name "client 1". */
export function whoIs(index: number, name: string | null): string {
	return `client ${index}${name === null ? "" : ` (${name})`}`;
}

/** Prefix for the name of a client's file. Without a client name it is empty, because the file name has the index. */
export function ofFile(index: number, name: string | null): string {
	return name === null ? "" : `${whoIs(index, name)}: `;
}

/** One of its files, or as much as a client that broke off has written. */
export function clientFile(folder: string, name: string): (LogFile & { part: boolean }) | null {
	for (const part of [false, true]) {
		const path = join(folder, part ? `${name}.part` : name);
		const bytes = sizeOfGiven(path);
		if (bytes !== null) return { path, bytes, part };
	}
	return null;
}

export function isCheckpoint(text: string): boolean {
	return text.includes('"type":"checkpoint"');
}

/** `tolerant`: the file breaks off somewhere, and the lines before the break are still good. */
export function parseAll(
	texts: Iterable<string>,
	{ tolerant, completions }: { tolerant: boolean; completions: boolean },
): ClientFileLine[] {
	const lines: ClientFileLine[] = [];
	const parse = lineParser(ClientFileLine);
	let number = 0;
	for (const text of texts) {
		number++;
		if (text.trim() === "" || isCheckpoint(text)) continue;
		const parsed = parse(text);
		if (parsed.line?.type === "completions" && !completions) continue;
		if (parsed.reason === null) lines.push(parsed.line);
		else if (tolerant) break;
		else throw new Error(`cannot be read at line ${number}: ${parsed.reason}`);
	}
	return lines;
}
