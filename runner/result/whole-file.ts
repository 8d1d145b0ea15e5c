import path from "node:path";
import { failure } from "../errors.ts";
import { noLinks } from "../given-folder.ts";
import { makeFolder } from "../make-folder.ts";
import { reasonOf } from "../reason.ts";
import * as disk from "../whole-file.ts";

/** Writes a report. `folder` is what `mqbench report` makes it anew from; through a link in it nothing is written. */
export function writeWhole(file: string, content: string | Uint8Array, folder: string): void {
	written(file, folder, () => {
		noLinks(folder, path.dirname(file));
		disk.writeWhole(file, content);
	});
}

/** Makes the folder of a report that lies elsewhere, and those above it. */
export function makeRoom(where: string, folder: string): void {
	written(where, folder, () => {
		noLinks(folder, where);
		makeFolder(where);
	});
}

// --- internal ---

function written(file: string, folder: string, write: () => void): void {
	try {
		write();
	} catch (error) {
		throw failure("report-unwritable", { path: file, reason: reasonOf(error), folder });
	}
}
