import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Paths of a command's runs or floors, by name. One may be a link (`noLinks`). */
export function runFolders(folder: string, below: "runs" | "floors"): string[] {
	const all = join(folder, below);
	return existsSync(all)
		? readdirSync(all, { withFileTypes: true })
				.filter((entry) => !entry.isFile())
				.map((entry) => join(all, entry.name))
				.sort()
		: [];
}
