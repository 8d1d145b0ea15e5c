import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";

/**
 * May ssh add a host's key to this file? A rig.json of somebody else may name any file of this user, and a line in a script is a command. What
 * is there has to hold known hosts already; what is not has to be named for them.
 */
export function keepsHosts(file: string): boolean {
	const where = file.replace(/^~(?=\/)/, homedir());
	const about = statSync(where, { throwIfNoEntry: false });
	if (about === undefined) return /^known/.test(path.basename(where));
	return (
		about.isFile() &&
		readFileSync(where, "utf8")
			.split("\n")
			.every((line) => /^\s*(?:#.*|(?:@\S+\s+)?\S+\s+[\w.@-]+\s+AAAA\S*.*)?$/.test(line))
	);
}
