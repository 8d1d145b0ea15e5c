import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";

/** Contents of an archive: a folder, a text, or the file at `from` on this machine. */
export interface Entry {
	/** "usr/local/bin/k6", without a leading slash. */
	readonly name: string;
	readonly mode: number;
	/** null for a folder. */
	readonly from: string | { readonly text: string } | null;
}

/** A tar archive (ustar) in pieces, as `docker import` reads it. Everything belongs to root and has no date, so equal files give equal archives. */
export async function* tar(entries: readonly Entry[]): AsyncGenerator<Uint8Array> {
	for (const { name, mode, from } of entries) {
		if (from === null) {
			yield header(`${name}/`, mode, 0, FOLDER);
			continue;
		}
		if (typeof from === "object") {
			const body = Buffer.from(from.text);
			yield header(name, mode, body.length, FILE);
			yield body;
			yield Buffer.alloc(padding(body.length));
			continue;
		}
		const { size } = await stat(from);
		yield header(name, mode, size, FILE);
		let read = 0;
		for await (const piece of createReadStream(from)) {
			read += piece.length;
			yield piece;
		}
		if (read !== size) throw new Error(`${from} has changed while it was read`);
		yield Buffer.alloc(padding(size));
	}
	yield Buffer.alloc(2 * BLOCK);
}

// --- internal ---

const BLOCK = 512;
const FILE = "0";
const FOLDER = "5";

function padding(size: number): number {
	return (BLOCK - (size % BLOCK)) % BLOCK;
}

/** POSIX.1-1988: numbers are octal text, the checksum counts itself as blanks. */
function header(name: string, mode: number, size: number, type: string): Buffer {
	if (Buffer.byteLength(name) > 100) throw new Error(`${name} is too long`);
	const block = Buffer.alloc(BLOCK);
	const octal = (value: number, at: number, length: number) =>
		block.write(`${value.toString(8).padStart(length - 1, "0")}\0`, at);
	block.write(name, 0);
	octal(mode, 100, 8);
	octal(0, 108, 8);
	octal(0, 116, 8);
	octal(size, 124, 12);
	octal(0, 136, 12);
	block.write(" ".repeat(8), 148);
	block.write(type, 156);
	block.write("ustar\0", 257);
	block.write("00", 263);
	const sum = block.reduce((all, byte) => all + byte, 0);
	block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
	return block;
}
