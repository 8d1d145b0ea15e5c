import { mkdirSync, statSync } from "node:fs";
import path from "node:path";

/**
 * Makes a folder with all that lead to it. One level at a time: of folders that the kernel makes up (/proc) Node 20 tries to make all of them
 * for ever.
 */
export function makeFolder(folder: string): void {
	const parent = path.dirname(folder);
	const there = statSync(folder, { throwIfNoEntry: false });
	if (there && !there.isDirectory())
		throw Object.assign(new Error(`${folder} is a file`), { code: "ENOTDIR" });
	if (parent === folder || there) return;
	makeFolder(parent);
	try {
		mkdirSync(folder);
	} catch (error) {
		// Another process may have made it meanwhile.
		if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
	}
}
