import type { ExitCode } from "../errors.ts";
import { smallestOf } from "../extremes.ts";
import type { Gate, Result } from "../model/result.ts";
import { breachOf, breachText, breachTitle } from "../result/breach.ts";
import { brokenOf, type Outcome } from "../result/outcomes.ts";
import { p99Of } from "../result/worst-repeat.ts";
import { tell } from "../text/tell.ts";
import type { OnInconclusive } from "../verdict/exit.ts";

/**
 * Workflow commands, one in a line: an annotation for each thing that broke, on the line of the scenario where it is asked for. GitHub
 * shows ten errors and ten warnings of a step and drops the rest in silence: so nine, and one that says how many more.
 */
export function annotations(result: Result, onInconclusive?: OnInconclusive): string[] {
	const broken = brokenOf(result);
	const file = fileOf(result);
	const level = (outcome: Outcome): Level =>
		outcome.verdict === "inconclusive"
			? onInconclusive === "pass"
				? "notice"
				: "warning"
			: "error";
	return (["error", "warning", "notice"] as const).flatMap((name) => {
		const all = broken.filter((outcome) => level(outcome) === name);
		const more = all.length - MOST;
		return [
			...all.slice(0, MOST).map((outcome) => annotation(name, outcome, result, file)),
			...(more > 0
				? [
						command(
							name,
							{ title: `mqbench: ${more} more` },
							tell("annotations-more", { more, scenario: result.scenario }),
						),
					]
				: []),
		];
	});
}

/** One line of a log that GitHub reads as a command. Whatever is in the texts, it stays one line and one message. */
export function command(
	name: string,
	properties: Readonly<Record<string, string>>,
	message: string,
): string {
	const written = Object.entries(properties)
		.map(([key, value]) => `${key}=${property(value)}`)
		.join(",");
	return `::${name}${written === "" ? "" : ` ${written}`}::${data(message)}`;
}

/**
 * What later steps of a job read (`steps.<id>.outputs`): verdict, exit-code, report (path of report.html), gate and p99 of the
 * worst gate, empty without one.
 */
export function outputsOf(
	result: Result,
	report: string,
	exitCode: ExitCode,
): Readonly<Record<string, string>> {
	const gate = worstGate(result);
	return {
		verdict: result.verdict,
		"exit-code": String(exitCode),
		report,
		gate: gate === null ? "" : `${gate.system}/${gate.case}: ${gate.sla}`,
		p99: (gate === null ? null : p99Of(gate, result)) ?? "",
	};
}

/** Lines for $GITHUB_OUTPUT. `delimiter` is not to be guessed: a value that holds it would end there, and name outputs of its own. */
export function outputText(outputs: Readonly<Record<string, string>>, delimiter: string): string {
	return Object.entries(outputs)
		.map(
			([name, value]) =>
				`${name}<<${delimiter}\n${value.replaceAll(/[\r\n]+/g, " ")}\n${delimiter}\n`,
		)
		.join("");
}

// --- internal ---

type Level = "error" | "warning" | "notice";

const MOST = 9;
/** GitHub cuts a title at 255 characters, and refuses messages of 64 kB. */
const MOST_TITLE = 250;
const MOST_MESSAGE = 4000;

function annotation(level: Level, outcome: Outcome, result: Result, file: string | null): string {
	const place =
		file === null ? {} : { file, ...(outcome.line === null ? {} : { line: `${outcome.line}` }) };
	return command(
		level,
		{ ...place, title: cut(breachTitle(outcome), MOST_TITLE) },
		cut(breachText(breachOf(outcome, result)), MOST_MESSAGE),
	);
}

/** Of the scenario, from the root of the repository; null: it lies outside, where no line can be marked. */
function fileOf({ command: given }: Result): string | null {
	const file = given?.file ?? given?.scenario ?? null;
	return file === null || /^(\.\.(\/|$)|\/|[a-zA-Z]:)/.test(file) ? null : file;
}

/** The worst verdict, of equal ones the one with the repeat that is furthest over its limit. */
function worstGate(result: Result): Gate | null {
	const [worst] = brokenOf(result).flatMap(({ of }) => (of.kind === "gate" ? [of.gate] : []));
	const alike = result.gates.filter((gate) => gate.verdict === (worst?.verdict ?? "pass"));
	const [first = null, ...others] = alike;
	return others.reduce((a, b) => (a !== null && leastMargin(b) < leastMargin(a) ? b : a), first);
}

/** Of all repeats, as the gate's own is of one with the worst verdict. Among messages that never completed: none at all. */
function leastMargin({ margin, repeats }: Gate): number {
	const margins = repeats.map((repeat) => (repeat.beyondNs !== null ? 0 : repeat.margin));
	return smallestOf([margin, ...margins].map((one) => one ?? Number.POSITIVE_INFINITY));
}

function cut(text: string, most: number): string {
	return text.length <= most ? text : `${text.slice(0, most).replace(/\p{Surrogate}$/u, "")}...`;
}

function data(text: string): string {
	return (
		text
			// An old command, which GitHub finds anywhere in a line that is none of the new ones.
			.replaceAll("##[", "## [")
			.replaceAll("%", "%25")
			.replaceAll("\r", "%0D")
			.replaceAll("\n", "%0A")
	);
}

function property(text: string): string {
	return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
