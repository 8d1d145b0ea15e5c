import { join } from "node:path";
import { sizeOfGiven } from "../given-folder.ts";
import { type LogFile, lines as linesOf } from "../histogram/log-file.ts";
import { ClientFileLine } from "../model/client-file.ts";
import { lineParser } from "./json.ts";
import { readLedger } from "./ledger-bits.ts";
import { hlogTrailer, jsonlTrailer } from "./trailer.ts";

/** The files of one client, read and checked. */
export type ClientFiles = ReturnType<typeof readClient>;

/** complete and interrupted: all trailers stand and fit. broken: the rest is what could be read. */
type State = "complete" | "interrupted" | "broken" | "missing";

/**
 * Reads `client-<index>.jsonl` and `.hlog`, or what a k6 that died has left of them (`.part`). `ledger`: messages cross from client to
 * client, so there has to be a `.ledger` too. `completions`: they are asked for; of a long run they are most of what there is. `name`: of the client, for sentences about it; null: nobody has written it down.
 */
export function readClient(
	folder: string,
	index: number,
	{ ledger = false, completions = true, name: called = null as string | null } = {},
) {
	const name = `client-${index}`;
	const who = whoIs(index, called);
	const jsonl = file(folder, `${name}.jsonl`);
	const hlog = file(folder, `${name}.hlog`);
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
		problems.push(
			`${who} ended before its result was complete; what it had written until then is shown`,
		);
	const jsonlEnd =
		jsonl?.part === false ? attempt(`${name}.jsonl`, () => jsonlTrailer(jsonl.path)) : null;
	const hlogEnd =
		hlog?.part === false ? attempt(`${name}.hlog`, () => hlogTrailer(hlog.path)) : null;
	if (jsonlEnd && hlogEnd && jsonlEnd.hlog.sha256 !== hlogEnd.sha256)
		problems.push(`${ofFile(index, called)}${name}.hlog and ${name}.jsonl are not of the same run`);

	const path = join(folder, `${name}.ledger`);
	if (ledger && sizeOfGiven(path) === null)
		problems.push(
			`${ofFile(index, called)}${name}.ledger is missing: which messages it sent and received is not known`,
		);
	const sets =
		ledger && sizeOfGiven(path) !== null ? attempt(`${name}.ledger`, () => readLedger(path)) : null;

	const lines =
		jsonl === null
			? []
			: (attempt(`${name}.jsonl`, () =>
					parseAll(linesOf(jsonl), { tolerant: jsonlEnd === null, completions }),
				) ?? []);
	const stopped = jsonlEnd?.state === "interrupted" || hlogEnd?.state === "interrupted";
	const whole: State = stopped ? "interrupted" : "complete";
	const state = isMissing ? "missing" : problems.length > 0 ? "broken" : whole;
	return {
		index,
		state: state as State,
		/** A sentence about what is wrong; null for complete and interrupted. */
		problem: problems[0] ?? null,
		lines,
		/** The .hlog without its trailer; null: there is none. */
		log: (hlogEnd?.body ?? hlog) as LogFile | null,
		/** Which messages it sent and received, where that is asked for; null: it is not, or they cannot be read. */
		ledger: sets,
	};
}

/** "client 1 (bench@10.0.0.11)", "client 1" */
export function whoIs(index: number, name: string | null): string {
	return `client ${index}${name === null ? "" : ` (${name})`}`;
}

/** What stands before the name of a file of that client; a file has the client's number in its own name. */
export function ofFile(index: number, name: string | null): string {
	return name === null ? "" : `${whoIs(index, name)}: `;
}

// --- internal ---

function file(folder: string, name: string): (LogFile & { part: boolean }) | null {
	for (const part of [false, true]) {
		const path = join(folder, part ? `${name}.part` : name);
		const bytes = sizeOfGiven(path);
		if (bytes !== null) return { path, bytes, part };
	}
	return null;
}

/** `tolerant`: the file breaks off somewhere; what stands before the break is still good. */
function parseAll(
	texts: Iterable<string>,
	{ tolerant, completions }: { tolerant: boolean; completions: boolean },
): ClientFileLine[] {
	const lines: ClientFileLine[] = [];
	const parse = lineParser(ClientFileLine);
	let number = 0;
	for (const text of texts) {
		number++;
		if (text.trim() === "") continue;
		const parsed = parse(text);
		if (parsed.line?.type === "completions" && !completions) continue;
		if (parsed.reason === null) lines.push(parsed.line);
		else if (tolerant) break;
		else throw new Error(`cannot be read at line ${number}: ${parsed.reason}`);
	}
	return lines;
}
