import { accessSync, constants, statSync } from "node:fs";
import path from "node:path";
import type { StartedSystem } from "../../runner/brokers/process.ts";
import { failure } from "../../runner/errors.ts";

/**
 * The program of a broker: the system's own `binary`, otherwise `own`. Fails with a sentence that says what is missing, and how to install it.
 */
export function findProgram(
	{ key, binary }: StartedSystem,
	env: Readonly<Record<string, string | undefined>>,
	own?: { readonly name: string; readonly install: string },
): string {
	const name = binary ?? own?.name ?? "";
	const file = path.isAbsolute(name) ? executable(name) : findOnPath(name, env);
	if (file !== null) return file;
	const remedy =
		binary === null && own
			? `Install it: ${own.install}; or name one that you have: binary: /path/to/${name}`
			: "Correct binary, or remove it to use what mqbench finds itself";
	const what =
		binary !== null && path.isAbsolute(binary)
			? `${binary} (binary) is not a program that can be run`
			: `${name}${binary === null ? "" : " (binary)"} is not on PATH`;
	throw failure("broker-missing", { system: key, what, remedy });
}

/** The path of a program: on PATH, or where servers are that users' PATHs leave out. */
export function findOnPath(
	name: string,
	env: Readonly<Record<string, string | undefined>>,
): string | null {
	const folders = (env.PATH ?? "").split(path.delimiter).filter(Boolean);
	for (const folder of [...folders, ...SERVERS]) {
		const file = executable(path.join(folder, name));
		if (file !== null) return file;
	}
	return null;
}

// --- internal ---

const SERVERS = ["/usr/sbin", "/usr/local/sbin", "/opt/homebrew/sbin"];

function executable(file: string): string | null {
	const all = process.platform === "win32" ? [file, `${file}.exe`] : [file];
	for (const one of all)
		try {
			accessSync(one, constants.X_OK);
			if (statSync(one).isFile()) return one;
		} catch {
			// Not here.
		}
	return null;
}
