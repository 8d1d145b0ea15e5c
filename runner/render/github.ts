import { sentence } from "../document/blocks.ts";
import type { ExitCode } from "../errors.ts";
import type { Result } from "../model/result.ts";
import { explain } from "../result/explain.ts";
import { brokenOf, type Outcome, outcomeName } from "../result/outcomes.ts";
import type { OnInconclusive } from "../verdict/exit.ts";
import { oneLine } from "./markdown/escape.ts";

/** One for each thing that broke, on its scenario line. GitHub silently drops all but ten of a level: nine, and one with the rest. */
export function annotations(result: Result, onInconclusive?: OnInconclusive): string[] {
	const broken = brokenOf(result);
	const given = result.command?.file ?? result.command?.scenario ?? null;
	// Outside of the repository no line can be marked.
	const file = given === null || /^(\.\.(\/|$)|\/|[a-zA-Z]:)/.test(given) ? null : given;
	const open = onInconclusive === "pass" ? "notice" : "warning";
	const levelOf = ({ verdict }: Outcome) => (verdict === "inconclusive" ? open : "error");
	return ["error", "warning", "notice"].flatMap((level) => {
		const all = broken.filter((outcome) => levelOf(outcome) === level);
		const more = all.length - MOST;
		const rest = `${more} more of ${result.scenario}: the summary of this job and report.html have all`;
		return [
			...all.slice(0, MOST).map((outcome) => annotation(level, outcome, result, file)),
			...(more > 0 ? [command(level, { title: `mqbench: ${more} more` }, rest)] : []),
		];
	});
}

/** One line of a log that GitHub reads as a command, whatever is in the texts. */
export function command(
	name: string,
	properties: Readonly<Record<string, string>>,
	message: string,
): string {
	const written = Object.entries(properties)
		.map(([key, value]) => `${key}=${data(value).replaceAll(":", "%3A").replaceAll(",", "%2C")}`)
		.join(",");
	return `::${name}${written === "" ? "" : ` ${written}`}::${data(message)}`;
}

/** For $GITHUB_OUTPUT. `delimiter` must not be guessed: a value that contains it would end there and add outputs. */
export function outputText(
	{ verdict }: Result,
	report: string,
	exitCode: ExitCode,
	delimiter: string,
): string {
	return Object.entries({ verdict, "exit-code": exitCode, report: oneLine(report) })
		.map(([name, value]) => `${name}<<${delimiter}\n${value}\n${delimiter}\n`)
		.join("");
}

// --- internal ---

const MOST = 9;
function annotation(level: string, outcome: Outcome, result: Result, file: string | null): string {
	const { broke, where, when, why, next } = explain(outcome, result);
	const line = outcome.line === null ? {} : { line: `${outcome.line}` };
	const title = `${outcome.verdict.toUpperCase()} ${outcomeName(outcome)}`;
	const more = [why, when].filter((text) => text !== null).map((text) => sentence(text));
	// As written: neither a system nor an SLA line is a word.
	const message = [`${where}: ${broke}.`, ...more, `What to do: ${next}.`].join(" ");
	return command(level, { ...(file === null ? {} : { file, ...line }), title }, message);
}

function data(text: string): string {
	// GitHub finds old commands anywhere in a line.
	const harmless = text.replaceAll("##[", "## [").replaceAll("%", "%25");
	return harmless.replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}
