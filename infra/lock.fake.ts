import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import path from "node:path";

/** For tests: a lock left by another process; returns the file that its holder touches. */
export function leftLock(where: string, owner: string, agoMs = 0): string {
	mkdirSync(where, { recursive: true });
	const file = path.join(where, "theirs");
	writeFileSync(file, owner);
	const then = new Date(Date.now() - agoMs);
	utimesSync(file, then, then);
	return file;
}
