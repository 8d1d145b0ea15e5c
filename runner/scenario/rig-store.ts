import { open, readFile, rm } from "node:fs/promises";
import { failure } from "../errors.ts";
import { reasonOf } from "../reason.ts";
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
	const parsed = parseRig(text);
	if ("wrong" in parsed)
		throw failure("rig-invalid", { path: shown, wrong: parsed.wrong });
	return parsed.rig;
}

/** Writes a rig.json that was not there. For its owner's eyes alone: URLs may hold passwords. */
export async function writeRig(
	{ shown, path }: RigPlace,
	rig: RigFileInput,
): Promise<void> {
	const text = `${JSON.stringify(RigFile.parse(rig), null, "\t")}\n`;
	const unwritable = (error: unknown) =>
		failure("rig-unwritable", { path: shown, reason: reasonOf(error) });
	const file = await open(path, "wx", 0o600).catch((error) => {
		throw error.code === "EEXIST"
			? failure("rig-exists", { path: shown })
			: unwritable(error);
	});
	try {
		await file.writeFile(text);
		await file.close();
	} catch (error) {
		await file.close().catch(() => {});
		// It is ours, and half of it helps nobody.
		await rm(path, { force: true });
		throw unwritable(error);
	}
}

/** Removes the file of rig `id`; that it is gone already, or another rig's by now, is no harm: that one stays. */
export async function removeRig(place: RigPlace, id: string): Promise<void> {
	if ((await rigAt(place)) === id) await rm(place.path, { force: true });
}

/** Id of the rig whose file it is; null: there is no such file; undefined: it cannot be read. */
export async function rigAt(
	place: RigPlace,
): Promise<string | null | undefined> {
	try {
		return (await readRig(place))?.id ?? null;
	} catch {
		return undefined;
	}
}
