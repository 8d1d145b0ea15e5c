import { writeFileSync } from "node:fs";
import path from "node:path";
import { failure } from "../../errors.ts";
import { makeFolder } from "../../make-folder.ts";
import { reasonOf } from "../../reason.ts";
import { tell } from "../../text/tell.ts";
import type { World } from "../../world.ts";

/** A file that was named where a run was meant must not be overwritten: `--markdown A B`. */
export function checkedFile(
	value: string | boolean | undefined,
	ending: string,
	option: string,
): string | null {
	if (value === undefined || typeof value === "boolean") return null;
	if (value.endsWith(ending)) return value;
	throw failure("usage", {
		message: tell("wrong-ending", {
			option,
			value,
			ending,
			instead: option === "--markdown" ? tell("markdown-last") : "",
		}),
	});
}

export function writeComparison(name: string, text: string, world: World): void {
	const file = path.resolve(world.cwd, name);
	try {
		makeFolder(path.dirname(file));
		writeFileSync(file, text);
	} catch (error) {
		throw failure("comparison-unwritable", { path: name, reason: reasonOf(error) });
	}
}
