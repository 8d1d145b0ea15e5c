import type { Run } from "../model/result.ts";
import { tell } from "../text/tell.ts";
import { formatCount, plural } from "../units.ts";

/**
 * What became of messages that exceed their system's limit, or of which none arrived, in one sentence: "refused: 40 of 40 (...)", "lost silently:
 * 40 of 40 were acknowledged and never arrived". null: of any other run, whose counts say it.
 */
export function fateText(run: Run): string | null {
	const { load, intended, acked } = run;
	const [failed, unknown] = [run.failed ?? 0, run.unknown ?? 0];
	const above = load.limitBytes !== null;
	const published = load.pattern === "publish";
	const arrived = (published ? acked : run.received) ?? 0;
	if (intended === 0 || run.state === "never" || (arrived > 0 && !above)) return null;
	const of = (n: number) => `${formatCount(n)} of ${formatCount(intended)}`;
	// Of copies some may be lost, and a message of theirs none.
	const gone = load.pattern === "fan-out" ? 0 : (run.lost ?? 0);
	const parts = [
		failed > 0 &&
			tell(above ? "fate-refused" : "fate-failed", { messages: of(failed), errors: wordsOf(run) }),
		gone > 0 && tell(acked === null ? "fate-lost-unacked" : "fate-lost", { messages: of(gone) }),
		unknown > 0 && tell("fate-unknown", { messages: of(unknown) }),
		arrived > 0 &&
			load.pattern !== "fan-out" &&
			tell(published ? "fate-taken" : "fate-arrived", { messages: of(arrived) }),
	].filter((part) => part !== false);
	return parts.length === 0 ? null : parts.join("; ");
}

// --- internal ---

const MOST_ERRORS = 2;

/** The commonest errors of messages, as server or library worded them. */
function wordsOf({ errors }: Run): string {
	const own = errors.filter(({ firstNs }) => firstNs !== null);
	const words = own
		.slice(0, MOST_ERRORS)
		.map(({ message, count }) =>
			own.length === 1 ? message : `${plural(count, "time")} ${message}`,
		);
	if (own.length > MOST_ERRORS) words.push("and others");
	return words.length === 0 ? "" : ` (${words.join("; ")})`;
}
