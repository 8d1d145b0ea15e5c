import { chunks, type LogFile } from "../histogram/log-file.ts";
import { LedgerLine } from "../model/client-file.ts";
import { tell } from "../text/tell.ts";
import { parsed } from "./json.ts";
import { ledgerTrailer } from "./trailer.ts";

/** A set of one producer's sequences, as it stands in the file: `joined` of ledger-bits.ts makes its bits. */
export type LedgerSet = Omit<Extract<LedgerLine, { type: "set" }>, "type">;

/** The sets of a `client-<i>.ledger`, its trailer checked. Throws a sentence about what does not fit. */
export function readLedger(path: string): LedgerSet[] {
	return [...setsOf(ledgerTrailer(path))];
}

// --- internal ---

function* setsOf(body: LogFile): Generator<LedgerSet> {
	let number = 0;
	for (const text of linesOf(body)) {
		number++;
		const line = LedgerLine.safeParse(parsed(text));
		if (!line.success || line.data.type !== "set")
			throw new Error(
				tell("line-unreadable", {
					line: number,
					reason: line.error?.issues[0]?.message ?? tell("trailer-too-early"),
				}),
			);
		const { type: _, ...set } = line.data;
		yield set;
	}
}

/** A line may be as large as a set of hundreds of millions of messages: pieces of it are joined once. */
function* linesOf(body: LogFile): Generator<string> {
	let parts: string[] = [];
	for (const piece of chunks(body)) {
		const [first = "", ...rest] = piece.toString("latin1").split("\n");
		parts.push(first);
		for (const next of rest) {
			yield parts.join("");
			parts = [next];
		}
	}
}
