import { closeSync, openSync, readSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";

/** The first `bytes` of a file, read piece by piece: an hour's histograms may be larger than a string can be (512 MB). */
export interface LogFile {
	readonly path: string;
	readonly bytes: number;
	/** Only what was intended in it, ns since T0. Default: all. */
	readonly span?: { readonly fromNs: number; readonly untilNs: number };
}

/** Each piece is valid until the next one is asked for. */
export function* chunks({ path, bytes }: LogFile): Generator<Buffer> {
	if (bytes === 0) return;
	const buffer = Buffer.allocUnsafe(Math.min(bytes, CHUNK));
	const file = openSync(path, "r");
	try {
		for (let at = 0; at < bytes; ) {
			const wanted = Math.min(buffer.length, bytes - at);
			const read = readSync(file, buffer, 0, wanted, at);
			if (read === 0) return;
			at += read;
			yield buffer.subarray(0, read);
		}
	} finally {
		closeSync(file);
	}
}

/** Lines without their ends. Pieces are joined once: the ledger of hundreds of millions of messages is one line. */
export function* lines(of: LogFile): Generator<string> {
	const decoder = new StringDecoder("utf8");
	let parts: string[] = [];
	for (const piece of chunks(of)) {
		const [first = "", ...rest] = decoder.write(piece).split("\n");
		parts.push(first);
		for (const next of rest) {
			yield parts.join("");
			parts = [next];
		}
	}
	const last = parts.join("") + decoder.end();
	if (last !== "") yield last;
}

// --- internal ---

const CHUNK = 1 << 20;
