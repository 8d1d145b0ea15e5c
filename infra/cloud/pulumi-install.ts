import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { sha256OfFile } from "../../runner/sha256.ts";
import { formatSums, parseSums, sumsOf, wrongFile } from "../programs/sums.ts";

/** Where Pulumi keeps its archives, and the list of their sums. */
export const ARCHIVES = "https://get.pulumi.com/releases/sdk";

/** An archive of the command, and the sha256 that it must have. */
export interface Archive {
	readonly name: string;
	/** null: nobody has told mqbench, so it downloads none. */
	readonly sha256: string | null;
}

/** File of the Pulumi project in `folder` with the sums of archives. */
export function pinsIn(folder: string): string {
	return path.join(folder, "pulumi.sha256");
}

/** The archive of a version for this machine. */
export async function archiveOf(version: string, folder: string): Promise<Archive> {
	const system = process.platform === "win32" ? "windows" : process.platform;
	const name = `pulumi-v${version}-${system}-${process.arch}.tar.gz`;
	const pins = await readFile(pinsIn(folder), "utf8").catch(() => "");
	return { name, sha256: parseSums(pins).get(name) ?? null };
}

/**
 * Downloads an archive, checks it before anything of it is unpacked, and unpacks it into `root`/bin. What was there is replaced. `from`: URL of
 * the folder of archives.
 */
export async function installPulumi(
	{ name, sha256 }: Archive,
	root: string,
	from: string,
	stop: AbortSignal,
): Promise<void> {
	const parent = path.dirname(root);
	await mkdir(parent, { recursive: true });
	const temporary = await mkdtemp(path.join(parent, `.${path.basename(root)}-`));
	try {
		const archive = path.join(temporary, name);
		await download(`${from}/${name}`, archive, stop);
		const found = await sha256OfFile(archive);
		if (found !== sha256)
			throw new Error(
				`${name} is not the archive that mqbench knows: its sha256 is ${found}, not ${sha256 ?? ""}`,
			);
		const made = path.join(temporary, "made");
		const bin = path.join(made, "bin");
		await mkdir(bin, { recursive: true });
		// All its files are in one folder.
		await promisify(execFile)("tar", ["-xzf", archive, "-C", bin, "--strip-components=1"], {
			signal: stop,
		});
		await writeFile(recordOf(made), formatSums(await sumsOf(bin)));
		await rm(root, { recursive: true, force: true });
		await rename(made, root);
	} finally {
		await rm(temporary, { recursive: true, force: true });
	}
}

/** The first file of `root`/bin that is not what was unpacked; null: all are, or none is there. Also the language host beside it runs. */
export async function wrongInstalled(root: string): Promise<string | null> {
	const bin = path.join(root, "bin");
	if (!existsSync(bin)) return null;
	// Of an earlier mqbench, which checked nothing: there is no record.
	const record = await readFile(recordOf(root), "utf8").catch(() => "");
	const wrong = await wrongFile(bin, parseSums(record));
	return wrong === null ? null : path.join(bin, wrong.file);
}

// --- internal ---

/** What was unpacked of a checked archive. */
function recordOf(root: string): string {
	return path.join(root, "sha256");
}

async function download(url: string, file: string, stop: AbortSignal): Promise<void> {
	const answer = await fetch(url, { signal: stop }).catch((error) => {
		// "fetch failed" says nothing.
		throw new Error(`${url}: ${error.cause?.message ?? error.message}`);
	});
	if (!answer.ok || answer.body === null) throw new Error(`${url}: HTTP ${answer.status}`);
	await writeFile(file, answer.body, { signal: stop });
}
