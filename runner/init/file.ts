import { existsSync, statSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { failure } from "../errors.ts";
import { reasonOf } from "../reason.ts";
import { Name } from "../scenario/schema.ts";
import type { World } from "../world.ts";

export const DEFAULT_FILE = "my-scenario.yaml";

/** `given` may lack .yaml or be a folder. The result is relative to the current folder, like `given`. */
export function newFile(given: string, { cwd }: Pick<World, "cwd">): string {
	const isFolder = statSync(path.resolve(cwd, given), { throwIfNoEntry: false })?.isDirectory();
	const wanted = isFolder || /[/\\]$/.test(given) ? path.join(given, DEFAULT_FILE) : given;
	const name = path.basename(wanted).replace(/\.ya?ml$/, "");
	const named = Name.safeParse(name);
	if (!named.success)
		throw failure("usage", { message: `${given}: ${named.error.issues[0]?.message}` });
	const file = path.join(path.dirname(wanted), `${name}.yaml`);
	if (existsSync(path.resolve(cwd, file)))
		throw failure("usage", {
			message: `${file} exists already and stays as it is; give another name: npx mqbench init <path>`,
		});
	return file;
}

/** Never overwrites a file. */
export async function write(to: string, text: string, { cwd }: Pick<World, "cwd">): Promise<void> {
	const where = path.resolve(cwd, to);
	try {
		await mkdir(path.dirname(where), { recursive: true });
		await writeFile(where, text, { flag: "wx" });
	} catch (error) {
		throw failure("scenario-unwritable", { path: to, reason: reasonOf(error) });
	}
}
