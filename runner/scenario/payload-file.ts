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
		const shown = path.relative(folder, file);
		const wrong = (message: string): Problem[] => [
			{ path: [...where(index, "payload"), "file"], at: "value", message },
		];
		if (bytes === null)
			return wrong(
				`payload: there is no file ${shown} in the scenario's folder; paths count from there`,
			);
		if (bytes === 0)
			return wrong(
				`payload: ${shown} is empty; payloads walk through its bytes`,
			);
		return bytes > MOST_PAYLOAD_BYTES
			? wrong(
					`payload: ${shown} has ${formatBytes(bytes)}, and is kept in memory; cut it to ${formatBytes(MOST_PAYLOAD_BYTES)}, which payloads walk through again and again`,
				)
			: [];
	});
}

// --- internal ---

/** The generator holds the file in memory, beside its histograms. */
const MOST_PAYLOAD_BYTES = 256 * 1024 ** 2;
