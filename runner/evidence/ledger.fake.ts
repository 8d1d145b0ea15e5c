import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { deflateSync } from "node:zlib";
import type { LedgerSet } from "./ledger-bits.ts";

export function setOf(
	set: LedgerSet["set"],
	producer: number,
	members: Iterable<number>,
	subscriber = 0,
): LedgerSet {
	const all = [...members];
	const bytes = Buffer.alloc(Math.ceil((Math.max(-1, ...all) + 1) / 8));
	for (const s of all) bytes[s >> 3] = (bytes[s >> 3] ?? 0) | (1 << (s & 7));
	return {
		set,
		producer,
		subscriber,
		count: all.length,
		bits: deflateSync(bytes).toString("base64"),
	};
}

export function writeLedger(path: string, sets: readonly LedgerSet[]): void {
	const body = sets.map((set) => `${JSON.stringify({ type: "set", ...set })}\n`).join("");
	const trailer = {
		type: "trailer",
		lines: sets.length,
		sha256: createHash("sha256").update(body).digest("hex"),
	};
	writeFileSync(path, `${body}${JSON.stringify(trailer)}\n`);
}
