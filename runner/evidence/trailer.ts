import { createHash } from "node:crypto";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { chunks, type LogFile } from "../histogram/log-file.ts";
import { LedgerLine, TrailerLine } from "../model/client-file.ts";
import { parsed } from "./json.ts";

/** The last line proves that nothing is missing: it has the count of lines before it and their SHA-256, in a .jsonl also of the .hlog. */

/** The checked trailer of an .hlog. Like the others, throws a sentence about the mismatch. */
export function hlogTrailer(path: string) {
	return checked(path, (last) => {
		const [, lines, sha256 = "", state] = HLOG.exec(last) ?? [];
		return lines === undefined
			? null
			: { lines: Number(lines), sha256, state: state as "complete" | "interrupted" };
	});
}

export function jsonlTrailer(path: string) {
	return checked(path, (last) => TrailerLine.safeParse(parsed(last)).data ?? null);
}

export function ledgerTrailer(path: string): LogFile {
	return checked(path, (last) => {
		const line = LedgerLine.safeParse(parsed(last)).data;
		return line?.type === "trailer" ? line : null;
	}).body;
}

// --- internal ---

const HLOG = /^#\[Trailer: lines=(\d+),sha256=([0-9a-f]{64}),state=(complete|interrupted)\]$/;
const NEWLINE = 10;
/** Trailers have about 200 bytes. */
const LONGEST = 4096;

function split(path: string): { body: LogFile; last: string } {
	const file = openSync(path, "r");
	try {
		const { size } = fstatSync(file);
		const from = Math.max(0, size - LONGEST);
		const tail = Buffer.alloc(size - from);
		readSync(file, tail, 0, tail.length, from);
		const end = tail.at(-1) === NEWLINE ? tail.length - 1 : tail.length;
		const start = end === 0 ? 0 : tail.lastIndexOf(NEWLINE, end - 1) + 1;
		const last = tail.toString("utf8", start, end).trimEnd();
		return { body: { path, bytes: from + start }, last };
	} finally {
		closeSync(file);
	}
}

function checked<T extends { readonly lines: number; readonly sha256: string }>(
	path: string,
	read: (last: string) => T | null,
): T & { readonly body: LogFile } {
	const { body, last } = split(path);
	const said = read(last);
	if (said === null) throw new Error("has no trailer: its end is missing");
	let counted = 0;
	const hash = createHash("sha256");
	for (const chunk of chunks(body)) {
		hash.update(chunk);
		for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) counted++;
	}
	if (counted !== said.lines)
		throw new Error(`has ${counted} lines where its trailer says ${said.lines}`);
	if (hash.digest("hex") !== said.sha256)
		throw new Error("was changed: it does not match the sum in its trailer");
	return { ...said, body };
}
