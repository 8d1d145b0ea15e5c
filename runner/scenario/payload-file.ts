import path from "node:path";
import { formatBytes } from "../units.ts";
import type { ResolvedCases } from "./cases.ts";
import type { Context } from "./context.ts";
import type { Problem } from "./problem.ts";

/** Payload files that are not there, or of no use. */
export function unreadablePayloads(
	{ cases, where }: ResolvedCases,
	{ folder, fileBytes }: Pick<Context, "folder" | "fileBytes">,
): Problem[] {
	return cases.flatMap((one, index): Problem[] => {
		const file = one?.message.file ?? null;
		if (file === null) return [];
		const bytes = fileBytes(file);
		const shown = path.relative(folder, file) || ".";
		const wrong = (message: string): Problem[] => [
			{ path: [...where(index, "payload"), "file"], at: "value", message },
		];
		if (bytes === null)
			return wrong(
				`payload: the file does not exist: ${shown}; write its path from the scenario's folder`,
			);
		if (bytes === "folder")
			return wrong(
				`payload: "${shown}" is a folder; write the path of a file, e.g. file: orders.json`,
			);
		if (bytes === 0)
			return wrong(
				`payload: the file is empty: ${shown}; write one with content`,
			);
		return bytes > MOST_PAYLOAD_BYTES
			? wrong(
					`payload: ${shown} has ${formatBytes(bytes)}; write a file of at most ${formatBytes(MOST_PAYLOAD_BYTES)}, which the generator keeps in memory`,
				)
			: [];
	});
}

// --- internal ---

/** The generator holds the file in memory, beside its histograms. */
const MOST_PAYLOAD_BYTES = 256 * 1024 ** 2;
