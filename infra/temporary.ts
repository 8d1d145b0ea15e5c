import type { Stats } from "node:fs";
import { lstat, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { isGone, ownerText } from "./owner.ts";

/** A folder of this process: its maker removes it, and `sweep` does if this process was killed. */
export async function temporaryFolder(parent: string): Promise<string> {
	const folder = await mkdtemp(path.join(parent, `mqbench-${process.pid}-`));
	try {
		await writeFile(path.join(folder, OWNER), ownerText(process.pid));
	} catch (error) {
		await rm(folder, { recursive: true, force: true });
		throw error;
	}
	return folder;
}

/** Removes files of killed runs (kill -9, power) in the temporary folder and in memory. */
export async function sweep(parents?: readonly string[]): Promise<void> {
	for (const folder of await leftFolders(parents))
		await rm(folder, { recursive: true, force: true });
}

/** The folders that `sweep` removes. Containers may share these folders, so folders of a process that cannot be seen from here stay. */
export async function leftFolders(
	parents: readonly string[] = [tmpdir(), "/dev/shm"],
): Promise<string[]> {
	const left: string[] = [];
	for (const parent of parents) {
		if (!(await isSafe(parent))) continue;
		for (const name of await readdir(parent).catch(() => [])) {
			const folder = path.join(parent, name);
			if (/^mqbench-\d+-\w{6}$/.test(name) && (await isLeft(folder))) left.push(folder);
		}
	}
	return left;
}

// --- internal ---

const OWNER = ".owner";

/** A folder without an owner is either new, or half removed if it has not changed for this long. */
const QUIET_MS = 24 * 3600 * 1000;

/** No other user can replace a folder of ours there by a link while we remove it. */
async function isSafe(parent: string): Promise<boolean> {
	const about = await stat(parent).catch(() => null);
	if (about === null) return false;
	const trusted = isMine(about) || about.uid === 0;
	const sticky = (about.mode & 0o1000) !== 0;
	return trusted && (sticky || (about.mode & 0o022) === 0);
}

function isMine({ uid }: Stats): boolean {
	// Windows has no such numbers.
	return process.getuid === undefined || uid === process.getuid();
}

async function isLeft(folder: string): Promise<boolean> {
	// Any user can make a folder with our name. Only this user may use ours.
	const about = await lstat(folder).catch(() => null);
	if (!about?.isDirectory() || !isMine(about)) return false;
	if (process.getuid && (about.mode & 0o077) !== 0) return false;
	const owner = await readFile(path.join(folder, OWNER), "utf8").catch(() => "");
	return owner === "" ? Date.now() - about.mtimeMs > QUIET_MS : isGone(owner);
}
