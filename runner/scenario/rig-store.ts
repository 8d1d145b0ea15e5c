import { readFile, rm } from "node:fs/promises";
import { failure } from "../errors.ts";
import { reasonOf } from "../reason.ts";
import { writeNew } from "../whole-file.ts";
import { parseRig, RigFile, type RigFileInput } from "./rig-file.ts";

/** Where a rig.json lies: as it was written on the command line, and absolute. */
export interface RigPlace {
	readonly shown: string;
	readonly path: string;
}

/** Reads a rig.json; null: there is no such file. */
export async function readRig({ shown, path }: RigPlace): Promise<RigFile | null> {
	let text: string;
	try {
		text = await readFile(path, "utf8");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
		throw failure("rig-unreadable", { path: shown, reason: reasonOf(error) });
	}
	const parsed = parseRig(text);
	if ("wrong" in parsed) throw failure("rig-invalid", { path: shown, wrong: parsed.wrong });
	return parsed.rig;
}

/** Writes a rig.json that was not there. For its owner's eyes alone: URLs may hold passwords. */
export async function writeRig({ shown, path }: RigPlace, rig: RigFileInput): Promise<void> {
	const text = `${JSON.stringify(RigFile.parse(rig), null, "\t")}\n`;
	try {
		writeNew(path, text, 0o600);
	} catch (error) {
		throw (error as NodeJS.ErrnoException).code === "EEXIST"
			? failure("rig-exists", { path: shown })
			: failure("rig-unwritable", { path: shown, reason: reasonOf(error) });
	}
}

/** Removes the file of rig `id`; that it is gone already, or another rig's by now, is no harm: that one stays. */
export async function removeRig(place: RigPlace, id: string): Promise<void> {
	if ((await rigAt(place)) === id) await rm(place.path, { force: true });
}

/** Id of the rig whose file it is; null: there is no such file; undefined: it cannot be read. */
export async function rigAt(place: RigPlace): Promise<string | null | undefined> {
	try {
		return (await readRig(place))?.id ?? null;
	} catch {
		return undefined;
	}
}
