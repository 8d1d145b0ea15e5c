import { accessSync, constants, statSync } from "node:fs";
import path from "node:path";
import type { Install, StartedSystem } from "../../runner/brokers/process.ts";
import { failure } from "../../runner/errors.ts";

/**
 * The program of a broker: the system's own `binary`, otherwise the first of `names` that exists. Fails with a sentence that says what is missing
 * and how to install it on this machine.
 */
export function findProgram(
	system: StartedSystem,
	names: readonly string[],
	install: Install,
	env: Readonly<Record<string, string | undefined>>,
	platform: NodeJS.Platform = process.platform,
): string {
	const wanted = system.binary === null ? names : [system.binary];
	for (const name of wanted) {
		const file = path.isAbsolute(name) ? executable(name) : findOnPath(name, env);
		if (file !== null) return file;
	}
	throw failure("broker-missing", {
		system: system.key,
		what:
			system.binary === null
				? `${names.join(" or ")} is not on PATH`
				: path.isAbsolute(system.binary)
					? `${system.binary} (binary) is not a program that can be run`
					: `${system.binary} (binary) is not on PATH`,
		remedy:
			system.binary === null
				? `Install it: ${installHere(install, platform)}; or name one that you have: binary: /path/to/${names[0] ?? ""}`
				: "Correct binary, or remove it to use what mqbench finds itself",
	});
}

/** How to install something on this platform. */
export function installHere(
	install: Install,
	platform: NodeJS.Platform = process.platform,
): string {
	return platform === "linux" || platform === "darwin" ? install[platform] : install.other;
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
