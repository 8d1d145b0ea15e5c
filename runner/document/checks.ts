import type { Run } from "../model/result.ts";
import { plural } from "../units.ts";
import {
	aside,
	type Block,
	badge,
	code,
	type Depth,
	fold,
	heading,
	type List,
	list,
	text,
	upTo,
} from "./blocks.ts";

/**
 * Whether a measurement is to be trusted: what checks found stands open; what is well, or not known, is folded, and of many runs
 * (`short`) only counted.
 */
export function checks(run: Run, short: boolean): Block[] {
	const { validity, why } = run;
	if (validity.length === 0) return [];
	const found = validity.filter(({ status }) => !QUIET.has(status));
	const quiet = validity.filter(({ status }) => QUIET.has(status));
	const unknown = quiet.filter(({ status }) => status === "unknown");
	const summary = `${quiet.length - unknown.length} checks found nothing${unknown.length > 0 ? `, ${unknown.length} could not be made` : ""}`;
	const names = unknown.map(({ check, detail }) => `${check} (${detail})`).join(", ");
	return [
		heading("Is the measurement to be trusted?", 3),
		// Texts have above why a run is what it is.
		checkList(
			found.filter(({ detail }) => detail === why),
			3,
		),
		checkList(found.filter(({ detail }) => detail !== why)),
		short ? text(summary, "soft", 3) : fold(summary, [checkList(quiet)], { depth: 3 }),
		...upTo(2, text(names === "" ? null : `not known: ${names}`)),
	];
}

/** What the broker's library said. */
export function errors({ errors: all }: Run): Block[] {
	if (all.length === 0) return [];
	return [
		heading("Errors", 3),
		list(all.map(({ count, message }) => [`error, ${plural(count, "time")}: `, code(message)])),
	];
}

// --- internal ---

const QUIET: ReadonlySet<string> = new Set(["ok", "unknown"]);

function checkList(all: Run["validity"], depth?: Depth): List {
	return list(
		all.map(({ check, status, detail, remedy, figure, limit }) => [
			badge(status, status),
			`: ${check}: ${detail}${remedy === null ? "" : `. What to do: ${remedy}`}`,
			aside(figure === null ? "" : `(${figure}${limit === null ? "" : `, limit ${limit}`})`),
		]),
		depth,
	);
}
