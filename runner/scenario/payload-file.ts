import path from "node:path";
import { formatBytes } from "../units.ts";
import type { ResolvedCases } from "./cases.ts";
import type { Context } from "./context.ts";
import { type Problem, refuse } from "./problem.ts";

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
		const at = [...where(index, "payload"), "file"];
		if (bytes === null) return [refuse(at, "payload-missing", { file: shown })];
		if (bytes === "folder") return [refuse(at, "payload-folder", { file: shown })];
		if (bytes === 0) return [refuse(at, "payload-empty", { file: shown })];
		const size = formatBytes(bytes);
		const most = formatBytes(MOST_PAYLOAD_BYTES);
		return bytes > MOST_PAYLOAD_BYTES
			? [refuse(at, "payload-too-large", { file: shown, size, most })]
			: [];
	});
}

// --- internal ---

/** The generator holds the file in memory, beside its histograms. */
const MOST_PAYLOAD_BYTES = 256 * 1024 ** 2;
