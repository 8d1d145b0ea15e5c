import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import type { World } from "../../../runner/world.ts";

/** Names of the profiles in AWS's configuration files, and the files; secrets are not read. A file that cannot be read has none. */
export function profilesOf(env: World["env"]): {
	readonly names: readonly string[];
	readonly files: readonly string[];
} {
	const home = path.join(env.HOME || homedir(), ".aws");
	const config = env.AWS_CONFIG_FILE || path.join(home, "config");
	const credentials = env.AWS_SHARED_CREDENTIALS_FILE || path.join(home, "credentials");
	return {
		files: [config, credentials],
		names: [
			...new Set([
				...sections(config).flatMap((name) =>
					name === "default" ? [name] : (/^profile\s+["']?(.+?)["']?$/.exec(name)?.[1] ?? []),
				),
				...sections(credentials),
			]),
		],
	};
}

// --- internal ---

/** "[profile bench]  # mine" -> "profile bench". */
function sections(file: string): string[] {
	let text: string;
	try {
		text = readFileSync(file, "utf8");
	} catch {
		return [];
	}
	return [...text.matchAll(/^\s*\[\s*([^\]\n]+?)\s*\]/gm)].map(([, name = ""]) => name);
}
