import { readFile, rm, writeFile } from "node:fs/promises";
import { failure } from "../runner/errors.ts";
import { reasonOf } from "../runner/reason.ts";
import { parseRig, RigFile, type RigFileInput } from "./rig-file.ts";

/** Where a rig.json lies: as it was written on the command line, and absolute. */
export interface RigPlace {
	readonly shown: string;
	readonly path: string;
}

/** Reads a rig.json; null: there is no such file. */
export async function readRig({
	shown,
	path,
}: RigPlace): Promise<RigFile | null> {
	let text: string;
	try {
		text = await readFile(path, "utf8");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
		throw failure("rig-unreadable", { path: shown, reason: reasonOf(error) });
	}
	const found = parseRig(text);
	if ("wrong" in found)
		throw failure("rig-invalid", { path: shown, wrong: found.wrong });
	return found.rig;
}

/** Writes a rig.json that was not there. For its owner's eyes alone: URLs may hold passwords. */
export async function writeRig(
	{ shown, path }: RigPlace,
	rig: RigFileInput,
): Promise<void> {
	try {
		await writeFile(
			path,
			`${JSON.stringify(RigFile.parse(rig), null, "\t")}\n`,
			{ mode: 0o600, flag: "wx" },
		);
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === "EEXIST") throw failure("rig-exists", { path: shown });
		throw failure("rig-unwritable", { path: shown, reason: reasonOf(error) });
	}
}

/** Removes it; that it is gone already is no harm. */
export async function removeRig({ path }: RigPlace): Promise<void> {
	await rm(path, { force: true });
}
