import { closeSync, openSync, readSync } from "node:fs";
import { StringDecoder } from "node:string_decoder";

/**
 * A file, or its beginning, that is read piece by piece: an hour's histograms may be larger than a string can be (512 MB), and no
 * part of them is needed twice at the same time.
 */
export interface LogFile {
	readonly path: string;
	/** So many bytes from its start. */
	readonly bytes: number;
}

/** The bytes of the file. Each piece is valid until the next one is asked for. */
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

/** The lines of the file, without their ends. One may be as large as hundreds of millions of messages' ledger: pieces of it are joined once. */
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
