import { randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { failure, MqbenchError } from "../../runner/errors.ts";
import { reasonOf } from "../../runner/reason.ts";

/**
 * Writes a file that only its owner can read. A crash leaves the old file or the new one: the content is on the disk before the name changes,
 * because the power may fail at any moment.
 */
export async function writeWhole(file: string, text: string): Promise<void> {
	const whole = `${file}.${randomBytes(4).toString("hex")}.new`;
	try {
		await write(whole, text);
		await rename(whole, file);
	} catch (error) {
		await rm(whole, { force: true });
		throw error;
	}
	// The name, too. Not every system can sync folders.
	const folder = await open(path.dirname(file), "r").catch(() => null);
	await folder?.sync().catch(() => {});
	await folder?.close();
}

/** Writes a new file, down to the disk. */
export async function write(file: string, text: string): Promise<void> {
	const handle = await open(file, "wx", 0o600);
	try {
		await handle.writeFile(text);
		await handle.sync();
	} finally {
		await handle.close();
	}
}

/** A refusal of the system is `cloud-state`, with the place. */
export async function orUnwritable<T>(
	where: string,
	act: () => Promise<T>,
): Promise<T> {
	try {
		return await act();
	} catch (error) {
		if (error instanceof MqbenchError) throw error;
		if ((error as NodeJS.ErrnoException).code === undefined) throw error;
		throw failure("cloud-state", { path: where, reason: reasonOf(error) });
	}
}
