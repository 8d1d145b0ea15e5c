import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { failure } from "../../runner/errors.ts";
import { sha256 } from "../../runner/sha256.ts";
import { orInterrupted } from "../../runner/stop.ts";
import type { World } from "../../runner/world.ts";
import { cacheFolder, fromCache } from "./cache.ts";
import { formatSums, parseSums, sumsOf, wrongFile } from "./sums.ts";
import { runTool } from "./tool.ts";

export interface JarsOptions {
	/** The downloaded program, for the folder's name and for messages: "kafka". */
	readonly name: string;
	/** The pom that pins all versions. */
	readonly pom: string;
	/** Properties of the pom to override: {kafka: "4.0.0"}. */
	readonly properties: Readonly<Record<string, string>>;
	/** File with the sha256 of each jar. null if none are pinned: then Maven's files are accepted, and may not change after that. */
	readonly sums: string | null;
	/** Path of Maven's program. */
	readonly mvn: string;
	readonly world: World;
	/** Key of the system, for errors. */
	readonly system: string;
}

/**
 * Folder with the jars of a pom and everything they need at run time: from the cache, or downloaded by this machine's Maven with its own
 * settings.xml. They are checked when they are downloaded and before each use. Fails with `broker-missing`, naming the wrong jar.
 */
export async function resolveJars(options: JarsOptions): Promise<string> {
	const { name, pom, properties, sums, world, system } = options;
	const text = await readFile(pom, "utf8");
	const hash = sha256(text + JSON.stringify(properties));
	const cache = cacheFolder(world.env, process.platform);
	const folder = path.join(cache, "jars", `${name}-${hash.slice(0, 16)}`);
	// Next to the folder, because Java loads every file in it.
	const record = sums ?? `${folder}.sha256`;
	const wrongIn = async (where: string) =>
		wrongFile(where, parseSums(await readFile(record, "utf8").catch(() => "")));
	return fromCache(world, {
		folder,
		read: async () => (existsSync(folder) && (await wrongIn(folder)) === null ? folder : null),
		make: async (fetched) => {
			await maven(options, fetched, /<type>tar\.gz</.test(text));
			if (sums === null) return writeFile(record, formatSums(await sumsOf(fetched)));
			// Maven checks its downloads, but not its older files; and a repository may have exchanged file and checksum.
			const wrong = await wrongIn(fetched);
			if (wrong === null) return;
			const { file, found, wanted } = wrong;
			const what = `${file} in what Maven fetched is not what mqbench knows: its sha256 is ${found ?? "none"}, and must be ${wanted ?? "none"}`;
			const remedy = `Remove it from the folder in which Maven keeps it, and try again: find ~/.m2 -name ${file} -delete`;
			throw failure("broker-missing", { system, what, remedy });
		},
	});
}

// --- internal ---

/** A slow download may go on; a stalled one is given up. */
const FETCH_MS = 600_000;

/** `packed`: the pom names an archive, which has the jars. */
async function maven(
	{ mvn, pom, properties, world, name, system }: JarsOptions,
	output: string,
	packed: boolean,
): Promise<void> {
	const markers = path.join(output, "markers");
	const argv = [
		mvn,
		"--batch-mode",
		"--quiet",
		// Its default for a wrong checksum is a warning.
		"--strict-checksums",
		"-Dstyle.color=never",
		"-f",
		pom,
		...Object.entries(properties).map(([key, value]) => `-D${key}=${value}`),
		packed ? "dependency:unpack-dependencies" : "dependency:copy-dependencies",
		"-DincludeScope=runtime",
		`-DoutputDirectory=${output}`,
		...(packed ? [`-DmarkersDirectory=${markers}`] : []),
	];
	const stop = AbortSignal.any([world.stop, AbortSignal.timeout(FETCH_MS)]);
	// Maven uses the user's own settings, mirrors and proxies.
	const end = await runTool(argv, { cwd: output, env: world.env, stop }).catch(() => null);
	orInterrupted(world.stop);
	if (end?.code === 0) return rm(markers, { recursive: true, force: true });
	const late = `it takes longer than ${FETCH_MS / 60_000} minutes`;
	throw failure("broker-missing", {
		system,
		what: `Maven cannot fetch ${name}: ${end === null ? late : explain(end.tail)}`,
		remedy: `Configure a Maven repository that this machine can reach (settings.xml), or use an installation of yours: binary: /path/to/${name}`,
	});
}

/** The first line with an error; Maven prints a screenful after it. */
function explain(tail: readonly string[]): string {
	const wrong = tail.find((line) => /ERROR/.test(line)) ?? tail.at(-1) ?? "";
	return wrong
		.replace(/^\[ERROR\]\s*/, "")
		.replace(/\s*->\s*\[Help 1\].*$/, "")
		.slice(0, 500);
}
