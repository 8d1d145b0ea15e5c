import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

// Run folders may come from other people: a link in one may lead to any file, and a pipe or device may never end.

/** Throws unless it is a regular file. */
export function readGiven(file: string): string {
	const about = lstatSync(file);
	if (about.isSymbolicLink()) throw refusal("ELINKED", file);
	if (about.isDirectory()) throw refusal("EISDIR", file);
	if (!about.isFile()) throw refusal("ENOTREG", file);
	return readFileSync(file, "utf8");
}

export function sizeOfGiven(file: string): number | null {
	const about = lstatSync(file, { throwIfNoEntry: false });
	return about?.isFile() ? about.size : null;
}

/** Paths of a command's runs or floors, by name. One may be a link (`noLinks`). */
export function runFolders(folder: string, below: "runs" | "floors"): string[] {
	const all = path.join(folder, below);
	return existsSync(all)
		? readdirSync(all, { withFileTypes: true })
				.filter((entry) => !entry.isFile())
				.map((entry) => path.join(all, entry.name))
				.sort()
		: [];
}

/** Path of `name`, from a file of the folder. Throws if it leads out of the folder. */
export function inside(folder: string, name: string): string {
	const where = path.join(folder, name);
	if (path.isAbsolute(name) || isOutside(folder, where)) throw refusal("EOUTSIDE", where);
	noLinks(folder, where);
	return where;
}

/** Throws if a link is on the way from the folder to a path in it. A path elsewhere is the user's own. */
export function noLinks(folder: string, where: string): void {
	if (isOutside(folder, where)) return;
	let at = folder;
	for (const part of path.relative(folder, where).split(path.sep)) {
		if (part === "") continue;
		at = path.join(at, part);
		if (lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink()) throw refusal("ELINKED", at);
	}
}

// --- internal ---

function isOutside(folder: string, where: string): boolean {
	const [first] = path.relative(folder, where).split(path.sep);
	return first === ".." || path.isAbsolute(path.relative(folder, where));
}

/** `reasonOf` words it. */
function refusal(code: string, where: string): Error {
	return Object.assign(new Error(`${code}: ${where}`), { code });
}
