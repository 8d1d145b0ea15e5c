import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

/** After a power failure the old file or the new one exists, never a part. Replaces a link in its place, never follows it. */
export function writeWhole(file: string, content: string | Uint8Array, mode?: number): void {
	// An unpredictable name, because a link may wait at a predictable one.
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

/** Writes a new file down to the disk. Fails with EEXIST if there is one, or a link. */
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

/** File names are on the disk only when their folder is. Not every system supports this. */
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
