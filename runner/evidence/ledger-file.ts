import { type LogFile, lines } from "../histogram/log-file.ts";
import { LedgerLine } from "../model/client-file.ts";
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
	for (const text of lines(body)) {
		number++;
		const line = LedgerLine.safeParse(parsed(text));
		if (!line.success || line.data.type !== "set")
			throw new Error(
				`cannot be read at line ${number}: ${line.error?.issues[0]?.message ?? "a trailer before the end"}`,
			);
		const { type: _, ...set } = line.data;
		yield set;
	}
}
