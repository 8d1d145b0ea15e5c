import type { Run } from "../model/result.ts";
import { formatCount, plural } from "../units.ts";

/**
 * What became of messages that exceed their system's limit, or of which none arrived, in one sentence: "refused: 40 of 40 (...)", "lost silently:
 * 40 of 40 were acknowledged and never arrived". null: of any other run, whose counts say it.
 */
export function fateText(run: Run): string | null {
	const { load, intended, acked, errors } = run;
	const [failed, unknown] = [run.failed ?? 0, run.unknown ?? 0];
	const above = load.limitBytes !== null;
	const published = load.pattern === "publish";
	const fanOut = load.pattern === "fan-out";
	const arrived = (published ? acked : run.received) ?? 0;
	if (intended === 0 || run.state === "never" || (arrived > 0 && !above)) return null;
	const of = (n: number) => `${formatCount(n)} of ${formatCount(intended)}`;
	// Of copies some may be lost, and a message of theirs none.
	const gone = fanOut ? 0 : (run.lost ?? 0);
	const how = acked === null ? "sent without an error" : "acknowledged";
	const parts = [
		failed > 0 && `${above ? "refused" : "failed"}: ${of(failed)}${wordsOf(errors)}`,
		gone > 0 && `lost silently: ${of(gone)} were ${how} and never arrived`,
		unknown > 0 && `not answered: ${of(unknown)}, and nobody knows whether the system took them`,
		arrived > 0 && !fanOut && `${published ? "acknowledged" : "arrived"}: ${of(arrived)}`,
	].filter((part) => part !== false);
	return parts.length === 0 ? null : parts.join("; ");
}

// --- internal ---

const MOST_ERRORS = 2;

/** The commonest errors of messages, as server or library worded them. */
function wordsOf(errors: Run["errors"]): string {
	const own = errors.filter(({ firstNs }) => firstNs !== null);
	const words = own
		.slice(0, MOST_ERRORS)
		.map(({ message, count }) =>
			own.length === 1 ? message : `${plural(count, "time")} ${message}`,
		);
	if (own.length > MOST_ERRORS) words.push("and others");
	return words.length === 0 ? "" : ` (${words.join("; ")})`;
}
