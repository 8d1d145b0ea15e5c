import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";

export function sha256(text: string): string {
	return createHash("sha256").update(text).digest("hex");
}

export async function sha256OfFile(file: string): Promise<string> {
	const hash = createHash("sha256");
	const pieces = createReadStream(file, { highWaterMark: 1 << 20 });
	for await (const piece of pieces) hash.update(piece);
	return hash.digest("hex");
}
