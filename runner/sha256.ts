import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";

/** SHA-256 of a text, in hexadecimal digits. */
export function sha256(text: string): string {
	return createHash("sha256").update(text).digest("hex");
}

/** SHA-256 of a file of any size, in hexadecimal digits. */
export async function sha256OfFile(file: string): Promise<string> {
	const hash = createHash("sha256");
	const pieces = createReadStream(file, { highWaterMark: 1 << 20 });
	for await (const piece of pieces) hash.update(piece);
	return hash.digest("hex");
}
