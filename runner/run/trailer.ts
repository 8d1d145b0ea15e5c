import { createHash } from "node:crypto";
import { TrailerLine } from "./client-file.ts";

/**
 * The last lines of a client's two files prove that nothing is missing. Both say how many lines stand before them
 * and the SHA-256 of those bytes; the one of the .jsonl says so of the .hlog too.
 */
export interface Trailer {
	readonly state: "complete" | "interrupted";
	/** The file without its trailer. */
	readonly body: string;
	readonly lines: number;
	readonly sha256: string;
}

/** The trailer of an .hlog, checked. Throws a sentence about what does not fit. */
export function hlogTrailer(file: Buffer): Trailer {
	const { body, last } = split(file);
	const [, lines, sha256, state] = HLOG.exec(last) ?? [];
	if (lines === undefined || sha256 === undefined)
		throw new Error("has no trailer: its end is missing");
	return checked(body, Number(lines), sha256, state as Trailer["state"]);
}

/** The trailer of a .jsonl, checked, with what it says about the .hlog. */
export function jsonlTrailer(
	file: Buffer,
): Trailer & { hlog: { lines: number; sha256: string } } {
	const { body, last } = split(file);
	const line = TrailerLine.safeParse(json(last));
	if (!line.success) throw new Error("has no trailer: its end is missing");
	const { lines, sha256, state, hlog } = line.data;
	return { ...checked(body, lines, sha256, state), hlog };
}

// --- internal ---

const HLOG =
	/^#\[Trailer: lines=(\d+),sha256=([0-9a-f]{64}),state=(complete|interrupted)\]$/;
const NEWLINE = 10;

function split(file: Buffer): { body: Buffer; last: string } {
	const end = file.at(-1) === NEWLINE ? file.length - 1 : file.length;
	const start = end === 0 ? 0 : file.lastIndexOf(NEWLINE, end - 1) + 1;
	return {
		body: file.subarray(0, start),
		last: file.toString("utf8", start, end).trimEnd(),
	};
}

function checked(
	body: Buffer,
	lines: number,
	sha256: string,
	state: Trailer["state"],
): Trailer {
	let counted = 0;
	for (const byte of body) if (byte === NEWLINE) counted++;
	if (counted !== lines)
		throw new Error(`has ${counted} lines where its trailer says ${lines}`);
	if (createHash("sha256").update(body).digest("hex") !== sha256)
		throw new Error("was changed: it does not match the sum in its trailer");
	return { state, body: body.toString("utf8"), lines, sha256 };
}

function json(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}
