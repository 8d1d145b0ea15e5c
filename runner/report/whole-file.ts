import { renameSync, rmSync, writeFileSync } from "node:fs";
import { failure } from "../errors.ts";
import { makeFolder } from "../make-folder.ts";
import { reasonOf } from "../reason.ts";

/** Writes a report, whole or not at all: a temporary file beside it, then a rename. `folder` is what `mqbench report` makes it anew from. */
export function writeWhole(
	path: string,
	content: string | Uint8Array,
	folder: string,
): void {
	try {
		writeFileSync(`${path}.tmp`, content);
		renameSync(`${path}.tmp`, path);
	} catch (error) {
		rmSync(`${path}.tmp`, { force: true });
		throw failure("report-unwritable", {
			path,
			reason: (error as NodeJS.ErrnoException).code ?? String(error),
			folder,
		});
	}
}

/** Makes the folder of a report that lies elsewhere, and those above it. */
export function makeRoom(where: string, folder: string): void {
	try {
		makeFolder(where);
	} catch (error) {
		const reason = reasonOf(error);
		throw failure("report-unwritable", { path: where, reason, folder });
	}
}
