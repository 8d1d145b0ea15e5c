import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { chunks, type LogFile } from "../histogram/log-file.ts";
import { LedgerLine, TrailerLine } from "../model/client-file.ts";
import { parsed } from "./json.ts";

/**
 * The last lines of a client's files prove that nothing is missing. Each says how many lines stand before it
 * and the SHA-256 of those bytes; the one of the .jsonl says so of the .hlog too.
 */
interface Trailer {
	readonly state: "complete" | "interrupted";
	/** The file without its trailer. */
	readonly body: LogFile;
	readonly sha256: string;
}

/** The trailer of an .hlog, checked. Throws a sentence about what does not fit. */
export function hlogTrailer(path: string): Trailer {
	const { body, last } = split(path);
	const [, lines, sha256, ended] = HLOG.exec(last) ?? [];
	if (lines === undefined || sha256 === undefined)
		throw new Error("has no trailer: its end is missing");
	const state = ended as Trailer["state"];
	return { state, body: check(body, { lines: Number(lines), sha256 }), sha256 };
}

/** The trailer of a .jsonl, checked, with what it says about the .hlog. */
export function jsonlTrailer(path: string): Trailer & { hlog: { sha256: string } } {
	const { body, last } = split(path);
	const line = TrailerLine.safeParse(parsed(last));
	if (!line.success) throw new Error("has no trailer: its end is missing");
	const { sha256, state, hlog } = line.data;
	return { state, body: check(body, line.data), sha256, hlog };
}

/** A .ledger without its trailer, which is checked. */
export function ledgerTrailer(path: string): LogFile {
	const { body, last } = split(path);
	const line = LedgerLine.safeParse(parsed(last));
	if (!line.success || line.data.type !== "trailer")
		throw new Error("has no trailer: its end is missing");
	return check(body, line.data);
}

// --- internal ---

const HLOG = /^#\[Trailer: lines=(\d+),sha256=([0-9a-f]{64}),state=(complete|interrupted)\]$/;
const NEWLINE = 10;
/** Trailers have some 200 bytes. */
const LONGEST = 4096;

/** The last line, and where it begins. */
function split(path: string): { body: LogFile; last: string } {
	const file = openSync(path, "r");
	try {
		const { size } = fstatSync(file);
		const from = Math.max(0, size - LONGEST);
		const tail = Buffer.alloc(size - from);
		readSync(file, tail, 0, tail.length, from);
		const end = tail.at(-1) === NEWLINE ? tail.length - 1 : tail.length;
		const start = end === 0 ? 0 : tail.lastIndexOf(NEWLINE, end - 1) + 1;
		return {
			body: { path, bytes: from + start },
			last: tail.toString("utf8", start, end).trimEnd(),
		};
	} finally {
		closeSync(file);
	}
}

/** The body, when it is what its trailer says. */
function check(
	body: LogFile,
	{ lines, sha256 }: { readonly lines: number; readonly sha256: string },
): LogFile {
	let counted = 0;
	const hash = createHash("sha256");
	for (const chunk of chunks(body)) {
		hash.update(chunk);
		for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) counted++;
	}
	if (counted !== lines) throw new Error(`has ${counted} lines where its trailer says ${lines}`);
	if (hash.digest("hex") !== sha256)
		throw new Error("was changed: it does not match the sum in its trailer");
	return body;
}
