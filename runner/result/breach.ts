import type { Result } from "../model/result.ts";
import { worstOf } from "../verdict/repeats.ts";
import { adviceText } from "./breach-advice.ts";
import { amountText } from "./breach-amount.ts";
import { timeText } from "./breach-time.ts";
import { type Outcome, outcomeName } from "./outcomes.ts";
import { searchTitle } from "./words.ts";
import { runsOf } from "./worst-repeat.ts";

/** What a person needs to know of one thing that broke, each in a sentence without its full stop. For terminal, markdown, JUnit and GitHub alike. */
interface Breach {
	/** What broke by how much: "p99 is 400ms: 40x the limit of 10ms, 390ms above it", "p99 < 20ms is neither met nor breached: ...". Says by itself which line. */
	readonly broke: string;
	/** "nats, 256B 1000/s, repeats 1 and 3 of 3" */
	readonly where: string;
	/** The worst second, or the first message that was lost; null: not known. */
	readonly when: string | null;
	/** What to do. */
	readonly next: string;
}

/** Of an outcome that did not pass. */
export function breachOf(outcome: Outcome, result: Result): Breach {
	return {
		broke: amountText(outcome),
		where: whereText(outcome, result),
		when: timeText(outcome, result),
		next: adviceText(outcome, result),
	};
}

/** All of it in one text: "nats, 256B 1000/s: p99 is 400ms, ... Worst in ... What to do: ..." */
export function breachText({ broke, where, when, next }: Breach): string {
	return [
		// As they are written: neither a system nor an SLA line is a word.
		`${where}: ${broke}.`,
		...(when === null ? [] : [`${when.charAt(0).toUpperCase()}${when.slice(1)}.`]),
		`What to do: ${next}.`,
	].join(" ");
}

/** For titles: "FAIL nats/256B 1000/s: p99 < 10ms". */
export function breachTitle(outcome: Outcome): string {
	return `${outcome.verdict.toUpperCase()} ${outcomeName(outcome)}`;
}

// --- internal ---

function whereText({ of, system, case: name }: Outcome, { runs }: Result): string {
	if (of.kind === "damage") return of.file;
	const place = (of.kind === "search" ? searchTitle(of.search) : `${system}, ${name}`).replaceAll(
		/\s+/g,
		" ",
	);
	if (of.kind === "run") {
		const alike = runsOf(of.run, { runs });
		return alike.length < 2 ? place : `${place}, repeat ${of.run.repeat} of ${alike.length}`;
	}
	if (of.kind !== "gate" || of.gate.repeats.length < 2) return place;
	const { repeats } = of.gate;
	const bad = worstOf(repeats).map((r) => r.repeat);
	if (bad.length === repeats.length) return `${place}, in all ${repeats.length} repeats`;
	return `${place}, in ${bad.length === 1 ? "repeat" : "repeats"} ${list(bad)} of ${repeats.length}`;
}

function list(numbers: readonly number[]): string {
	return numbers.length < 2
		? `${numbers[0]}`
		: `${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1)}`;
}
