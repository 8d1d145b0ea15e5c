import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

/**
 * Writes a file. Whenever the power fails, the old file or the new one is there, and never a part of it: the content is on the disk before
 * the name changes. A link in its place is replaced, not followed.
 */
export function writeWhole(file: string, content: string | Uint8Array, mode?: number): void {
	// Nobody can know this name before, and put a link there.
	const part = `${file}.${randomBytes(6).toString("hex")}.part`;
	writeNew(part, content, mode);
	try {
		renameSync(part, file);
	} catch (error) {
		rmSync(part, { force: true });
		throw error;
	}
	syncFolder(path.dirname(file));
}

/** Writes a file that does not exist yet, down to the disk. Fails with EEXIST if there is one, or a link. */
export function writeNew(file: string, content: string | Uint8Array, mode = 0o666): void {
	const opened = openSync(file, "wx", mode);
	try {
		writeFileSync(opened, content);
		fsyncSync(opened);
	} catch (error) {
		rmSync(file, { force: true });
		throw error;
	} finally {
		closeSync(opened);
	}
}

/** Names of files are on the disk when their folder is. Not every system can do this. */
export function syncFolder(folder: string): void {
	try {
		const opened = openSync(folder, "r");
		try {
			fsyncSync(opened);
		} finally {
			closeSync(opened);
		}
	} catch {
		// The files themselves are on the disk.
	}
}
