import { mkdirSync } from "node:fs";
import path from "node:path";
import { failure } from "../errors.ts";
import { noLinks } from "../given-folder.ts";
import { reasonOf } from "../reason.ts";
import * as disk from "../whole-file.ts";

/** Makes the folder, and never writes through a link. `mqbench report` makes the file from `folder`. */
export function writeWhole(file: string, content: string | Uint8Array, folder: string): void {
	try {
		noLinks(folder, path.dirname(file));
		mkdirSync(path.dirname(file), { recursive: true });
		disk.writeWhole(file, content);
	} catch (error) {
		throw failure("report-unwritable", { path: file, reason: reasonOf(error), folder });
	}
}
