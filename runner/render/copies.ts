import {
	closeSync,
	lstatSync,
	openSync,
	readFileSync,
	rmdirSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import path from "node:path";
import { failure, type MqbenchError } from "../errors.ts";
import { makeFolder } from "../make-folder.ts";
import { reasonOf } from "../reason.ts";
import type { FileReporter, Reporter } from "../result/reporters.ts";
import type { World } from "../world.ts";

/** A copy of a report that `--reporter name=path` asks for. */
interface Copy {
	readonly name: FileReporter;
	/** As it was given. */
	readonly to: string;
}

export function copiesOf(reporters: readonly Reporter[]): Copy[] {
	return reporters.flatMap((one) =>
		one.kind === "file" && one.path !== null && one.path !== "-"
			? [{ name: one.name, to: one.path }]
			: [],
	);
}

/**
 * Sees whether all copies can be written: before minutes of measuring, not after. What is there stays as it is, and what was made
 * for it goes again: a copy may lie below the folder of the run, which must not be there yet. Throws `copy-unwritable` (3).
 */
export function checkCopies(reporters: readonly Reporter[], { cwd }: Pick<World, "cwd">): void {
	for (const { name, to } of copiesOf(reporters)) {
		const made: string[] = [];
		try {
			const where = path.resolve(cwd, to);
			makeFolder(path.dirname(where), made);
			tryFile(where);
		} catch (error) {
			throw failure("copy-unwritable", { reporter: `${name}=${to}`, reason: reasonOf(error) });
		} finally {
			for (const folder of made.reverse()) rmdirSync(folder);
		}
	}
}

/** Writes the copy; what went wrong, if anything, is given back, as what else is to be told must not be lost for it. */
export function writeCopy(
	{ to }: Copy,
	from: string,
	/** The folder of the run, as people are told it. */
	folder: string,
	{ cwd }: Pick<World, "cwd">,
): MqbenchError | null {
	try {
		const where = path.resolve(cwd, to);
		makeFolder(path.dirname(where));
		writeFileSync(where, readFileSync(from));
		return null;
	} catch (error) {
		return failure("report-unwritable", { path: to, reason: reasonOf(error), folder });
	}
}

// --- internal ---

/** A pipe, a device and a link are left alone: to open one is to use it. */
function tryFile(where: string): void {
	const there = lstatSync(where, { throwIfNoEntry: false });
	if (there && !there.isFile() && !there.isDirectory()) return;
	closeSync(openSync(where, there ? "a" : "wx"));
	if (!there) rmSync(where);
}
