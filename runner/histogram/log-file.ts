import { closeSync, openSync, readSync } from "node:fs";

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

// --- internal ---

const CHUNK = 1 << 20;
