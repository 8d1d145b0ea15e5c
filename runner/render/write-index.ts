import path from "node:path";
import { indexDocument } from "../document/index.ts";
import { failure } from "../errors.ts";
import { readRuns } from "../result/indexed.ts";
import { writeWhole } from "../result/whole-file.ts";
import { plainText } from "../terminal/columns.ts";
import { plural } from "../units.ts";
import type { World } from "../world.ts";
import { renderHtml } from "./html.ts";

/** `folder`: as typed. */
export function writeIndex(where: string, folder: string, world: World): void {
	const entries = readRuns(where);
	if (entries.length === 0) throw failure("no-runs", { path: folder });
	writeWhole(path.join(where, "index.html"), renderHtml(indexDocument(entries)), where);
	const without = entries.filter(({ result }) => result === null);
	for (const { folder: name, problem } of without)
		world.stderr.write(`${plainText(name)}: ${problem}.\n`);
	world.stdout.write(
		`${plural(entries.length, "result")}${without.length > 0 ? `, ${without.length} of them unreadable` : ""}: ${path.join(folder, "index.html")}\n`,
	);
}
