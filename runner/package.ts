import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** Holds package.json, extensions/ and scenarios/, for the sources and for dist/. */
export const packageFolder: string = find(path.dirname(fileURLToPath(import.meta.url)));

export const packageVersion: string = (
	JSON.parse(readFileSync(path.join(packageFolder, "package.json"), "utf8")) as { version: string }
).version;

// --- internal ---

function find(folder: string): string {
	return existsSync(path.join(folder, "package.json")) ? folder : find(path.dirname(folder));
}
