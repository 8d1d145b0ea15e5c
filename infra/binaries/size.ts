import { readdir, stat } from "node:fs/promises";
import path from "node:path";

/** Bytes of all files in a folder, or of a file; what is gone meanwhile, or may not be read, counts as nothing. */
export async function sizeOf(where: string): Promise<number> {
	try {
		const about = await stat(where);
		if (!about.isDirectory()) return about.size;
		const names = await readdir(where);
		const sizes = await Promise.all(names.map((name) => sizeOf(path.join(where, name))));
		return sizes.reduce((a, b) => a + b, 0);
	} catch {
		return 0;
	}
}
